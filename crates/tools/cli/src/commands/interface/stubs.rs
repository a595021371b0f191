//! `feros interface stubs`: tells Python type checkers about the classes that are made at run time.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use feros_interface::{
    ActionDefinition, BaseType, Field, Interface, MessageDefinition, Namespace, ServiceDefinition,
    Shape, TypeName,
};

use crate::error::CliError;
use crate::output;
use crate::types::{InterfaceArgs, Types};

/// Write type stubs of interface packages, for type checkers of Python
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  feros interface stubs stubs --interfaces my_interfaces\n  MYPYPATH=stubs mypy my_node.py"
)]
pub(crate) struct Args {
    /// Folder to write to; each package gets a folder there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Include the packages that Feros ships, whose stubs the Python package already has
    #[arg(long)]
    shipped: bool,
    /// The Python package that will contain the packages, such as `feros.msgs`; by default, they
    /// are not in another package
    #[arg(long, default_value = "")]
    root: String,
    /// Also write modules, through which programs import the packages from that folder. They know
    /// the types that `FEROS_INTERFACES` names when the program runs
    #[arg(long)]
    modules: bool,
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    let types = Types::load(interfaces)?;
    types.warn_of_faults();
    let shipped = feros_interface::shipped();
    let is_meant = |package: &str| args.shipped || !shipped.has_package(package);
    let meant = types.set().interfaces().filter(|interface| is_meant(&interface.name().package));
    let files = files(meant.map(|interface| &**interface), &args.root, args.modules);
    if files.is_empty() {
        return Err(CliError::failed(
            "there is no package to write stubs for: name folders with --interfaces DIR, or add --shipped",
        ));
    }
    let mut packages = BTreeSet::new();
    for (path, text) in &files {
        write(&args.folder.join(path), text)?;
        packages.extend(path.iter().next().map(|package| package.to_string_lossy().into_owned()));
    }
    output::print_lines(packages)
}

/// The files of the packages, by paths that begin with the name of the package: stubs, and modules
/// if they are wanted. `root` is the Python package that will contain the packages, if any.
pub(in crate::commands) fn files<'a>(
    interfaces: impl Iterator<Item = &'a Interface>,
    root: &str,
    with_modules: bool,
) -> BTreeMap<PathBuf, String> {
    let mut modules: BTreeMap<(String, Namespace), Module> = BTreeMap::new();
    for interface in interfaces {
        let name = interface.name();
        let place = (name.package.clone(), name.namespace);
        modules.entry(place).or_default().add(interface);
    }
    let root = if root.is_empty() { String::new() } else { format!("{root}.") };
    let mut packages: BTreeMap<&str, Vec<Namespace>> = BTreeMap::new();
    let mut files = BTreeMap::new();
    for ((package, namespace), module) in &modules {
        let folder = Path::new(package).join(namespace.as_str());
        files.insert(folder.join("__init__.pyi"), module.text(&root, package, *namespace));
        if with_modules {
            files.insert(folder.join("__init__.py"), namespace_module(package, *namespace));
        }
        packages.entry(package).or_default().push(*namespace);
    }
    for (package, namespaces) in &packages {
        let folder = Path::new(package);
        let import = |of: &Namespace| format!("from . import {of} as {of}\n", of = of.as_str());
        files.insert(folder.join("__init__.pyi"), namespaces.iter().map(import).collect());
        if with_modules {
            // Without a root, the package has ROS's own name. A program on another rclpy, which
            // lacks the package, would find it here.
            let check = if root.is_empty() { NO_FOREIGN } else { "" };
            files.insert(folder.join("__init__.py"), format!("{check}{PACKAGE_MODULE}"));
            files.insert(folder.join("py.typed"), String::new());
        }
    }
    files
}

const NO_FOREIGN: &str = "from feros._companions import refuse_beside_foreign

refuse_beside_foreign(__name__)
";

/// The module of a package, which imports its namespaces on demand.
const PACKAGE_MODULE: &str = "from feros._messages import package_module

__getattr__ = package_module(__name__)
";

/// The module of a namespace, which makes its classes on demand.
fn namespace_module(package: &str, namespace: Namespace) -> String {
    format!(
        "from feros._messages import namespace_module

__getattr__, __dir__, __all__ = namespace_module(__name__, \"{package}\", \"{}\")
",
        namespace.as_str()
    )
}

fn write(file: &Path, text: &str) -> Result<(), CliError> {
    let failed = |error| CliError::failed(format!("{}: {error}", file.display()));
    file.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
    feros_files::write(file, text).map_err(failed)
}

/// The names that stubs use. No type begins with an underscore, but a type may be named `Message`.
const IMPORTS: &str = "\
import builtins as _builtins
from typing import Any as _Any, Final as _Final, TypeAlias as _TypeAlias

from feros._messages import ActionType as _ActionType, Message as _Message
from feros._messages import ServiceType as _ServiceType
";

/// The module of one namespace of a package.
#[derive(Default)]
struct Module {
    /// Modules that its fields refer to.
    imports: BTreeSet<(String, Namespace)>,
    classes: Vec<Class>,
}

/// The text of one class, in which `{root}` stands for the package that contains all packages.
struct Class(String);

impl Module {
    fn add(&mut self, interface: &Interface) {
        for message in interface.messages() {
            let references = message.references().into_iter();
            self.imports.extend(references.map(|name| (name.package.clone(), name.namespace)));
            self.classes.push(Class(message_class(&message)));
        }
        for service in interface.services() {
            self.classes.push(Class(service_class(&service)));
        }
        if let Interface::Action(action) = interface {
            self.classes.push(Class(action_class(action)));
        }
    }

    fn text(&self, root: &str, package: &str, namespace: Namespace) -> String {
        let mut text = String::from(IMPORTS);
        for (other, other_namespace) in &self.imports {
            if (other.as_str(), *other_namespace) != (package, namespace) {
                let _ = writeln!(text, "import {root}{other}.{}", other_namespace.as_str());
            }
        }
        let here = format!("{{root}}{package}.{}.", namespace.as_str());
        for Class(class) in &self.classes {
            text.push('\n');
            text.push_str(&class.replace(&here, "").replace("{root}", root));
        }
        text
    }
}

/// Whether Python accepts the name as an identifier, even if it already has a meaning there.
fn is_usable(name: &str) -> bool {
    const KEYWORDS: [&str; 35] = [
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class",
        "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global",
        "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return",
        "try", "while", "with", "yield",
    ];
    !KEYWORDS.contains(&name)
}

fn message_class(message: &MessageDefinition) -> String {
    let mut text = format!("class {}(_Message):\n", message.name.name);
    // A field of this name would hide the type.
    let builtin = |name: &str| {
        let is_hidden = message.fields.iter().any(|field| field.name == name);
        format!("{}{name}", if is_hidden { "_builtins." } else { "" })
    };
    for constant in &message.constants {
        let ty = element(&constant.ty, &builtin);
        let _ = writeln!(text, "    {}: _Final[{ty}]", constant.name);
    }
    let fields = message.fields.iter().filter(|field| is_usable(&field.name));
    let mut parameters = String::new();
    for field in fields {
        let ty = field_type(field, &builtin);
        let _ = writeln!(text, "    {}: {ty}", field.name);
        let _ = write!(parameters, "{}: {ty} = ..., ", field.name);
    }
    let _ = writeln!(
        text,
        "    def __init__(self, *, {parameters}check_fields: {} = ...) -> None: ...",
        builtin("bool")
    );
    text
}

fn service_class(service: &ServiceDefinition) -> String {
    let name = &service.name.name;
    format!(
        "class {name}(_ServiceType[{name}_Request, {name}_Response]):\n    Request: _TypeAlias = {name}_Request\n    Response: _TypeAlias = {name}_Response\n    Event: _TypeAlias = {name}_Event\n"
    )
}

fn action_class(action: &ActionDefinition) -> String {
    let name = &action.name.name;
    format!(
        "class {name}(_ActionType[{name}_Goal, {name}_Result, {name}_Feedback]):\n    Goal: _TypeAlias = {name}_Goal\n    Result: _TypeAlias = {name}_Result\n    Feedback: _TypeAlias = {name}_Feedback\n"
    )
}

/// The type of a field. `builtin` writes the name of a built-in type.
fn field_type(field: &Field, builtin: &dyn Fn(&str) -> String) -> String {
    let element = element(&field.ty.base, builtin);
    let is_list = matches!(
        field.ty.base,
        BaseType::Bool
            | BaseType::Byte
            | BaseType::String { .. }
            | BaseType::WString { .. }
            | BaseType::Nested(_)
    );
    match field.ty.shape {
        Shape::Single => element,
        _ if is_list => format!("{}[{element}]", builtin("list")),
        // A numpy array, an `array` or a memoryview; any sequence of numbers may be assigned.
        _ => "_Any".to_owned(),
    }
}

fn element(base: &BaseType, builtin: &dyn Fn(&str) -> String) -> String {
    match base {
        BaseType::Bool => builtin("bool"),
        BaseType::Byte => builtin("bytes"),
        BaseType::Float32 | BaseType::Float64 => builtin("float"),
        BaseType::String { .. } | BaseType::WString { .. } => builtin("str"),
        BaseType::Nested(TypeName { package, namespace, name }) => {
            format!("{{root}}{package}.{}.{name}", namespace.as_str())
        }
        _ => builtin("int"),
    }
}
