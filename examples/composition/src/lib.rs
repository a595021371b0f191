//! Code that the example programs and graphs share. It composes components by hand, and keeps the
//! parts of components with many endpoints.
//!
//! A program has a table of components, and runs those that its command line names, in one process,
//! on one executor. `pipeline` runs all of its components in one process; `pipeline camera` runs
//! only the camera. So one program serves for both placements, a process for each component and one
//! process for all, and the components are the same.

mod managed;
mod parts;

pub use feros;
pub use feros_component;
pub use managed::{Activity, Fill, Managed, ManagedParts};
pub use parts::{Latest, Parts, Publishes, header, log_failure, send};

use std::process::ExitCode;

use feros::{Context, Error, Executor, NodeOptions};
use feros_component::Component;

/// A function that makes a component, whose type is hidden.
pub type Constructor = fn(&Context, NodeOptions) -> Result<Box<dyn Component>, Error>;

/// An entry in the table of a program: the component's name on the command line, and the function
/// that makes the component.
pub type Entry = (&'static str, Constructor);

/// Makes the entry of a component.
pub const fn entry<C: Component>(name: &'static str) -> Entry {
    (name, |context, options| Ok(Box::new(C::new(context, options)?)))
}

/// Runs the components that the command line names, or all of them, until the process gets SIGINT
/// or SIGTERM.
pub fn main(table: &[Entry]) -> ExitCode {
    match run(table) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(table: &[Entry]) -> Result<(), Error> {
    let (context, names) = Context::from_args(std::env::args().skip(1))?;
    let executor = Executor::new();
    // The components live as long as this value.
    let mut components = Vec::new();
    for constructor in chosen(table, &names).map_err(Error::other)? {
        let component = constructor(&context, NodeOptions::default())?;
        executor.add_node(component.node())?;
        components.push(component);
    }
    Ok(executor.spin()?)
}

fn chosen(table: &[Entry], names: &[String]) -> Result<Vec<Constructor>, String> {
    if names.is_empty() {
        return Ok(table.iter().map(|(_, constructor)| *constructor).collect());
    }
    let find = |name: &String| {
        let found = table.iter().find(|(known, _)| known == name);
        found.map(|(_, constructor)| *constructor).ok_or_else(|| {
            let known: Vec<_> = table.iter().map(|(known, _)| *known).collect();
            format!("there is no component {name:?}: it is one of {}", known.join(", "))
        })
    };
    names.iter().map(find).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const TABLE: [Entry; 2] =
        [("camera", |_, _| Err(Error::other("1"))), ("detector", |_, _| Err(Error::other("2")))];

    #[test]
    fn components_are_chosen_by_name_and_unknown_ones_are_told() {
        assert_eq!(chosen(&TABLE, &[]).unwrap().len(), 2);
        assert_eq!(chosen(&TABLE, &["detector".to_owned()]).unwrap().len(), 1);
        let refused = chosen(&TABLE, &["camera".to_owned(), "tracker".to_owned()]).unwrap_err();
        assert_eq!(refused, "there is no component \"tracker\": it is one of camera, detector");
    }
}
