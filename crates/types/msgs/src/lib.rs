//! The standard ROS 2 interfaces as Rust types, generated at build time from their definitions.
//!
//! The path of a type consists of its package, kind and name: `sensor_msgs::msg::Image`,
//! `std_srvs::srv::SetBool`. Each message has an owned struct with public fields, whose `Default`
//! contains the declared defaults. [`Message`](feros_message::Message) gives its name and type
//! hash. If a part of a message can be borrowed, there is a borrowed form, such as
//! `sensor_msgs::msg::ImageView`, which reads received bytes without a copy. Messages of small
//! fixed size are their own view.
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
//!
//! A message can also be built in the memory that will be sent, without an owned value. Its shape,
//! here `ImageShape`, gives the parts that cannot change later. Its fields, here `ImageMut`, then
//! give access to the other parts in that memory. [`Build`](feros_message::Build) explains how each
//! kind of field is set.
//!
//! ```
//! use feros_message::{build, shaped_size, view};
//! use feros_msgs::sensor_msgs::msg::{Image, ImageShape};
//! use feros_msgs::std_msgs::msg::HeaderShape;
//!
//! let shape = ImageShape { header: HeaderShape { frame_id: "camera" }, encoding: "mono8", data: 4 };
//! let size = shaped_size::<Image>(&shape)?;
//! # let mut memory = vec![0; size + 7];
//! # let start = memory[4..].as_ptr().align_offset(8);
//! # let lent = &mut memory[start..start + size];
//! // `lent` is memory of a transport. The address of its byte 4 is a multiple of 8.
//! let image = build::<Image>(&shape, lent)?;
//! *image.height = 2;
//! *image.width = 2;
//! *image.step = 2;
//! image.data.copy_from_slice(&[7; 4]);
//!
//! let seen = view::<Image>(lent)?;
//! assert_eq!((seen.header.frame_id, seen.height, seen.data), ("camera", 2, &[7u8; 4][..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//!
//! The definitions in `interfaces/` are unchanged copies of the definitions of stock ROS 2, because
//! nodes compare the hashes of types over the network. Tests compare hashes and bytes with values
//! from stock ROS 2 that are stored in the repository.

mod diagnostic_status;
mod image;
mod point_cloud;
mod samples;
mod time;

pub use image::{ImageError, Pixels};
pub use point_cloud::{PointCloudError, Points};
pub use samples::Sample;
pub use time::NegativeDuration;

feros_message::include_interfaces!();
