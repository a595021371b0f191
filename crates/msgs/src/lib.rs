//! The standard ROS 2 interfaces as Rust types, generated at build time from their definitions.
//!
//! A type is found by package, kind and name: `sensor_msgs::msg::Image`, `std_srvs::srv::SetBool`. Each message has
//! an owned struct with public fields, whose `Default` holds the declared defaults; [`Message`](feros_message::Message)
//! gives its name and type hash and, where something in it is worth borrowing, a view such as
//! `sensor_msgs::msg::ImageView` that reads received bytes in place. Messages of small fixed size are their own view.
//!
//! # Examples
//!
//! ```
//! use feros_message::{Message, from_bytes, to_vec, view};
//! use feros_msgs::sensor_msgs::msg::Image;
//!
//! let image = Image { height: 2, width: 2, encoding: "mono8".into(), step: 2, data: vec![7; 4], ..Image::default() };
//! let bytes = to_vec(&image)?;
//! assert_eq!(from_bytes::<Image>(&bytes)?, image);
//!
//! // Nothing is copied: `data` points into `bytes`.
//! let seen = view::<Image>(&bytes)?;
//! assert_eq!((seen.width, seen.encoding, seen.data), (2, "mono8", &[7u8; 4][..]));
//! assert_eq!(Image::TYPE_NAME, "sensor_msgs/msg/Image");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod time;

pub use time::NegativeDuration;

feros_message::include_interfaces!();
