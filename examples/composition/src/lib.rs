//! What the examples' programs and graphs share: composing components by hand, and what components
//! of many endpoints are made of.
//!
//! A program composes those of its table that its command line names, in one process, on one
//! executor. `pipeline` is all of its components in one process, `pipeline camera` is the camera
//! alone. So one program serves both the placement "a process for each" and "all in one", and the
//! components know nothing of it.

mod managed;
mod parts;

pub use feros;
pub use feros_component;
pub use managed::{Activity, Fill, Managed, ManagedParts};
pub use parts::{Latest, Parts, Publishes, header, log_failure, send};

use std::process::ExitCode;

use feros::{Context, Error, Executor, NodeOptions};
use feros_component::Component;

/// Makes a component whose type is known to the table alone.
pub type Constructor = fn(&Context, NodeOptions) -> Result<Box<dyn Component>, Error>;

/// A component as the table of a program has it: the name that the command line calls it by, and
/// how it is made.
pub type Entry = (&'static str, Constructor);

/// The entry of a component.
pub const fn entry<C: Component>(name: &'static str) -> Entry {
    (name, |context, options| Ok(Box::new(C::new(context, options)?)))
}

/// Runs the components that the command line names, or all of them, until the process is told to
/// end.
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
    // Components live as long as this does.
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
