//! The camera: publishes images of a dark floor with a bright spot, drawn directly into the memory
//! from which subscriptions read them.

use std::f64::consts::TAU;
use std::time::Duration;

use feros::msgs::sensor_msgs::msg::{Image, ImageShape};
use feros::msgs::std_msgs::msg::HeaderShape;
use feros::{
    Clock, Context, Error, Node, NodeOptions, NodeTimer, Parameter, PublishError, Publisher,
    QosProfile,
};
use feros_component::{Component, register};

use crate::now;

const FLOOR: u8 = 16;
const SPOT: u8 = 240;

/// Looks down on the floor in front of the robot; publishes `image` (mono8) at a steady rate.
pub struct Camera {
    node: Node,
    _frames: NodeTimer,
}

impl Component for Camera {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        let node = context.create_node_with(options.name("camera"))?;
        let side = |name, default| {
            node.build_parameter(name, default).range(16..=4096).read_only().declare()
        };
        let (width, height) = (side("width", 320)?.get(), side("height", 240)?.get());
        let rate_hz =
            node.build_parameter("rate_hz", 30.0).range(0.1..=1000.0).read_only().declare()?.get();
        let mut frames = Frames {
            width: usize::try_from(width).map_err(Error::other)?,
            height: usize::try_from(height).map_err(Error::other)?,
            spot: Spot::declare(&node)?,
            clock: node.clock().clone(),
            images: node.create_publisher::<Image>("image", QosProfile::sensor_data())?,
        };
        let timer = node.create_timer(Duration::from_secs_f64(1.0 / rate_hz), move || {
            if let Err(error) = frames.publish() {
                tracing::error!("{error}");
            }
        })?;
        Ok(Self { node, _frames: timer })
    }

    fn node(&self) -> &Node {
        &self.node
    }
}

/// The motion of the spot on a circle; all values are fractions of the image's width and height.
struct Spot {
    x: Parameter<f64>,
    y: Parameter<f64>,
    orbit: Parameter<f64>,
    orbits_per_second: Parameter<f64>,
    radius_pixels: Parameter<f64>,
    is_lit: Parameter<bool>,
}

impl Spot {
    fn declare(node: &Node) -> Result<Self, Error> {
        let part = |name, default, what| {
            node.build_parameter(name, default).description(what).range(0.0..=1.0).declare()
        };
        Ok(Self {
            x: part(
                "spot.x",
                0.5,
                "Middle of the circle, from the left of the image (0) to the right (1)",
            )?,
            y: part(
                "spot.y",
                0.5,
                "Middle of the circle, from the top of the image (0) to the bottom (1)",
            )?,
            orbit: part("spot.orbit", 0.2, "Radius of the circle; 0: the spot stands still")?,
            orbits_per_second: node
                .build_parameter("spot.orbits_per_second", 0.25)
                .range(0.0..=10.0)
                .declare()?,
            radius_pixels: node
                .build_parameter("spot.radius_pixels", 8.0)
                .range(1.0..=100.0)
                .declare()?,
            is_lit: node
                .build_parameter("spot.is_lit", true)
                .description("Dark, it is not there")
                .declare()?,
        })
    }

    /// The position of the spot in an image, in pixels from the upper left corner.
    fn position(&self, seconds: f64, width: usize, height: usize) -> (f64, f64) {
        let (sin, cos) = (TAU * self.orbits_per_second.get() * seconds).sin_cos();
        let orbit = self.orbit.get();
        ((self.x.get() + orbit * cos) * width as f64, (self.y.get() + orbit * sin) * height as f64)
    }
}

struct Frames {
    width: usize,
    height: usize,
    spot: Spot,
    clock: Clock,
    images: Publisher<Image>,
}

impl Frames {
    fn publish(&mut self) -> Result<(), PublishError> {
        let header = HeaderShape { frame_id: "camera" };
        let shape = ImageShape { header, encoding: "mono8", data: self.width * self.height };
        let mut loan = self.images.loan(&shape)?;
        let image = loan.fields()?;
        let stamp = now(&self.clock);
        (*image.header.stamp.sec, *image.header.stamp.nanosec) = (stamp.sec, stamp.nanosec);
        // The sides have at most 4096 pixels; see the declaration of the parameters.
        (*image.width, *image.height, *image.step) =
            (self.width as u32, self.height as u32, self.width as u32);
        image.data.fill(FLOOR);
        if self.spot.is_lit.get() {
            let seconds = stamp.to_nanos() as f64 * 1e-9;
            let centre = self.spot.position(seconds, self.width, self.height);
            draw_disk(image.data, self.width, centre, self.spot.radius_pixels.get());
        }
        loan.publish()
    }
}

/// Draws the part of a disk that lies inside an image.
fn draw_disk(pixels: &mut [u8], width: usize, (x, y): (f64, f64), radius: f64) {
    for (row, line) in pixels.chunks_exact_mut(width).enumerate() {
        let above = row as f64 + 0.5 - y;
        if above.abs() > radius {
            continue;
        }
        let half = (radius * radius - above * above).sqrt();
        // The columns whose centres lie on the disk; the `as` casts keep them within the line.
        let first = ((x - half - 0.5).ceil().max(0.0) as usize).min(width);
        let end = ((x + half + 0.5).floor().max(0.0) as usize).min(width);
        line[first..end.max(first)].fill(SPOT);
    }
}

register!(Camera, "pipeline::Camera");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_drawn_as_far_as_it_lies_inside() {
        let mut pixels = [0; 100];
        draw_disk(&mut pixels, 10, (5.0, 5.0), 2.0);
        let bright = pixels.iter().filter(|pixel| **pixel == SPOT).count();
        assert!((10..=14).contains(&bright), "about pi * 2 * 2: {bright}");
        assert_eq!((pixels[5 * 10 + 5], pixels[2 * 10 + 5], pixels[5 * 10 + 2]), (SPOT, 0, 0));
        for centre in [(-1.0, 5.0), (10.5, 9.9), (-50.0, -50.0), (1e9, 5.0)] {
            let mut pixels = [0; 100];
            draw_disk(&mut pixels, 10, centre, 2.0);
            assert!(pixels.iter().filter(|pixel| **pixel == SPOT).count() < 8, "{centre:?}");
        }
    }
}
