//! The book's pages as documentation tests: they fail if an example of a page does not compile, or
//! runs and fails. Such an example runs beside the robot, which is another process.
//!
//! The pages are in `pages/`, in the order of `pages/SUMMARY.md`. `mdbook build docs/book` makes
//! the book.

mod beside;
pub mod robot;

pub use beside::{FolderWithDrive, beside_the_robot, folder_with_drive, managed_node, node};

#[cfg(doctest)]
macro_rules! pages {
    ($($name:ident $file:literal,)*) => {
        $(#[doc = include_str!($file)] struct $name;)*
    };
}

#[cfg(doctest)]
pages! {
    GettingStarted "../pages/getting_started.md",
    FromRclcpp "../pages/from_rclcpp.md",
    FromRclpy "../pages/from_rclpy.md",
    TopicsAndServices "../pages/topics_and_services.md",
    Interfaces "../pages/interfaces.md",
    SharedState "../pages/shared_state.md",
    Actions "../pages/actions.md",
    Qos "../pages/qos.md",
    Transports "../pages/transports.md",
    Time "../pages/time.md",
    Async "../pages/async.md",
    Executors "../pages/executors.md",
    Components "../pages/components.md",
    Composition "../pages/composition.md",
    Parameters "../pages/parameters.md",
    Tf2 "../pages/tf2.md",
    Lifecycle "../pages/lifecycle.md",
    Testing "../pages/testing.md",
    Deployment "../pages/deployment.md",
    Bags "../pages/bags.md",
    FastDds "../pages/fastdds.md",
    Humble "../pages/humble.md",
    LookingInside "../pages/looking_inside.md",
    View "../pages/view.md",
}
