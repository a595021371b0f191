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
    let mut modules: BTreeMap<(String, Namespace), Module> = BTreeMap::new();
    for interface in types.set().interfaces() {
        let name = interface.name();
        if is_meant(&name.package) {
            let place = (name.package.clone(), name.namespace);
            modules.entry(place).or_default().add(interface);
        }
    }
    if modules.is_empty() {
        return Err(CliError::failed(
            "there is no package to write stubs for: name folders with --interfaces DIR, or add --shipped",
        ));
    }
    let root = if args.root.is_empty() { String::new() } else { format!("{}.", args.root) };
    let mut packages: BTreeMap<&str, Vec<Namespace>> = BTreeMap::new();
    for ((package, namespace), module) in &modules {
        let folder = args.folder.join(package).join(namespace.as_str());
        write(&folder, "__init__.pyi", &module.text(&root, package, *namespace))?;
        if args.modules {
            write(&folder, "__init__.py", &namespace_module(package, *namespace))?;
        }
        packages.entry(package).or_default().push(*namespace);
    }
    for (package, namespaces) in &packages {
        let folder = args.folder.join(package);
        let import = |of: &Namespace| format!("from . import {of} as {of}\n", of = of.as_str());
        let imports: String = namespaces.iter().map(import).collect();
        write(&folder, "__init__.pyi", &imports)?;
        if args.modules {
            // Without a root, the package has ROS's own name. A program on another rclpy, which
            // lacks the package, would find it here.
            let check = if root.is_empty() { NO_FOREIGN } else { "" };
            write(&folder, "__init__.py", &format!("{check}{PACKAGE_MODULE}"))?;
            write(&folder, "py.typed", "")?;
        }
    }
    output::print_lines(packages.keys())
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

fn write(folder: &Path, name: &str, text: &str) -> Result<(), CliError> {
    let file = folder.join(name);
    let failed = |error| CliError::failed(format!("{}: {error}", file.display()));
    fs::create_dir_all(folder).map_err(failed)?;
    fs::write(&file, text).map_err(failed)
}

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
        let mut text = String::from("from typing import Any, Final, TypeAlias\n\n");
        text.push_str("from feros._messages import ActionType, Message, ServiceType\n");
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
    let mut text = format!("class {}(Message):\n", message.name.name);
    for constant in &message.constants {
        let _ = writeln!(text, "    {}: Final[{}]", constant.name, element(&constant.ty));
    }
    let fields = message.fields.iter().filter(|field| is_usable(&field.name));
    let mut parameters = String::new();
    for field in fields {
        let ty = field_type(field);
        let _ = writeln!(text, "    {}: {ty}", field.name);
        let _ = write!(parameters, "{}: {ty} = ..., ", field.name);
    }
    let _ = writeln!(
        text,
        "    def __init__(self, *, {parameters}check_fields: bool = ...) -> None: ..."
    );
    text
}

fn service_class(service: &ServiceDefinition) -> String {
    let name = &service.name.name;
    format!(
        "class {name}(ServiceType[{name}_Request, {name}_Response]):\n    Request: TypeAlias = {name}_Request\n    Response: TypeAlias = {name}_Response\n    Event: TypeAlias = {name}_Event\n"
    )
}

fn action_class(action: &ActionDefinition) -> String {
    let name = &action.name.name;
    format!(
        "class {name}(ActionType[{name}_Goal, {name}_Result, {name}_Feedback]):\n    Goal: TypeAlias = {name}_Goal\n    Result: TypeAlias = {name}_Result\n    Feedback: TypeAlias = {name}_Feedback\n"
    )
}

fn field_type(field: &Field) -> String {
    let element = element(&field.ty.base);
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
        _ if is_list => format!("list[{element}]"),
        // A numpy array, an `array` or a memoryview; any sequence of numbers may be assigned.
        _ => "Any".to_owned(),
    }
}

fn element(base: &BaseType) -> String {
    match base {
        BaseType::Bool => "bool".to_owned(),
        BaseType::Byte => "bytes".to_owned(),
        BaseType::Float32 | BaseType::Float64 => "float".to_owned(),
        BaseType::String { .. } | BaseType::WString { .. } => "str".to_owned(),
        BaseType::Nested(TypeName { package, namespace, name }) => {
            format!("{{root}}{package}.{}.{name}", namespace.as_str())
        }
        _ => "int".to_owned(),
    }
}
