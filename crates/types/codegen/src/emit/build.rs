//! The builder of a message: the shape, which gives the sizes of the variable parts, and the struct
//! with references to the fields in the memory of the message.

use feros_interface::{BaseType, Field, FieldType, Literal, MessageDefinition, Shape, TypeName};

use crate::emit::fields::check_bounds;
use crate::emit::literal;
use crate::emit::source::Source;
use crate::emit::types::{Context, primitive};
use crate::names::{derived_identifier, identifier, type_identifier};

/// Writes the shape, the fields and the trait of the message whose owned struct is `owned`.
pub(crate) fn emit(
    source: &mut Source,
    context: &Context<'_>,
    message: &MessageDefinition,
    owned: &str,
) {
    let m = context.message();
    let is_fixed = context.is_fixed(&message.name);
    if !is_fixed {
        declare_shape(source, context, message);
    }
    declare_fields(source, context, message);
    if is_fixed {
        set(source, context, message, owned);
    }
    source.line(format!("impl {m}::Build for {owned} {{"));
    let shape =
        if is_fixed { "()".to_owned() } else { context.shape_name_and_lifetime(&message.name) };
    source.line(format!("type Shape<'s> = {shape};"));
    source.line(format!("type Fields<'a> = {}<'a>;", context.fields_name(&message.name)));
    if !is_fixed {
        lay_out(source, context, message);
    }
    split(source, context, message);
    source.line("}");
}

impl Context<'_> {
    /// Whether all messages of a type have the same size, which means that the type has no string
    /// and no sequence.
    fn is_fixed(&self, name: &TypeName) -> bool {
        self.set.message(name).is_some_and(|message| {
            message.fields.iter().all(|field| self.is_fixed_field(&field.ty))
        })
    }

    fn is_fixed_field(&self, ty: &FieldType) -> bool {
        matches!(ty.shape, Shape::Single | Shape::Array(_)) && self.is_fixed_base(&ty.base)
    }

    fn is_fixed_base(&self, base: &BaseType) -> bool {
        match base {
            BaseType::Nested(name) => self.is_fixed(name),
            base => primitive(base).is_some(),
        }
    }

    fn shape_name(&self, name: &TypeName) -> String {
        type_identifier(&derived_identifier(name, "Shape", |other| self.set.contains(other)))
    }

    fn shape_name_and_lifetime(&self, name: &TypeName) -> String {
        let lifetime = if self.is_shape_borrowing(name) { "<'s>" } else { "" };
        format!("{}{lifetime}", self.shape_name(name))
    }

    /// Whether the shape of a message borrows, which means that it contains more than lengths.
    /// Returns false if the message has no shape.
    fn is_shape_borrowing(&self, name: &TypeName) -> bool {
        self.set.message(name).is_some_and(|message| {
            message.fields.iter().filter(|field| !self.is_fixed_base(&field.ty.base)).any(|field| {
                match (&field.ty.base, field.ty.shape) {
                    (BaseType::Nested(name), Shape::Single | Shape::Array(_)) => {
                        self.is_shape_borrowing(name)
                    }
                    _ => true,
                }
            })
        })
    }

    fn fields_name(&self, name: &TypeName) -> String {
        type_identifier(&derived_identifier(name, "Mut", |other| self.set.contains(other)))
    }

    /// Returns the type in the shape for a field whose size is not fixed.
    fn shape_type(&self, ty: &FieldType) -> String {
        if self.is_fixed_base(&ty.base) {
            return "usize".to_owned();
        }
        let element = match &ty.base {
            BaseType::WString { .. } => "&'s [u16]".to_owned(),
            BaseType::Nested(name) => {
                self.paths.of_derived(name, &self.shape_name_and_lifetime(name))
            }
            _ => "&'s str".to_owned(),
        };
        match ty.shape {
            Shape::Single => element,
            Shape::Array(len) => format!("[{element}; {len}]"),
            Shape::Sequence | Shape::BoundedSequence(_) => format!("&'s [{element}]"),
        }
    }

    /// Returns the type of a field in the struct of fields, and the call of the splitter that gives
    /// out the field.
    fn split_field(&self, ty: &FieldType) -> (String, String) {
        let m = self.message();
        let view = |text: &str| format!("{m}::SequenceView<'a, {text}>");
        let wide = format!("{m}::WStringView<'a>");
        match (&ty.base, ty.shape) {
            (BaseType::String { .. }, Shape::Single) => {
                ("&'a str".to_owned(), "p.string()?".to_owned())
            }
            (BaseType::String { .. }, Shape::Array(len)) => {
                (view("&'a str"), format!("p.string_array({len})?"))
            }
            (BaseType::String { .. }, _) => (view("&'a str"), "p.strings()?".to_owned()),
            (BaseType::WString { .. }, Shape::Single) => (wide, "p.wstring()?".to_owned()),
            (BaseType::WString { .. }, Shape::Array(len)) => {
                (view(&wide), format!("p.wstring_array({len})?"))
            }
            (BaseType::WString { .. }, _) => (view(&wide), "p.wstrings()?".to_owned()),
            (BaseType::Nested(name), shape) => {
                let path = self.paths.of_type(name);
                let sequence = format!("{m}::SequenceMut<'a, {path}>");
                match shape {
                    Shape::Single => (
                        format!("{}<'a>", self.paths.of_derived(name, &self.fields_name(name))),
                        format!("<{path} as {m}::Build>::split(p)?"),
                    ),
                    Shape::Array(len) => {
                        (sequence, format!("{m}::SequenceMut::split_array(p, {len})?"))
                    }
                    Shape::Sequence | Shape::BoundedSequence(_) => {
                        (sequence, format!("{m}::SequenceMut::split_sequence(p)?"))
                    }
                }
            }
            (number, shape) => {
                let element = primitive(number).map_or("u8", |(name, _)| name);
                match shape {
                    Shape::Single => (format!("&'a mut {element}"), "p.value()?".to_owned()),
                    Shape::Array(len) => {
                        (format!("&'a mut [{element}; {len}]"), "p.array()?".to_owned())
                    }
                    Shape::Sequence | Shape::BoundedSequence(_) => {
                        (format!("&'a mut [{element}]"), "p.sequence()?".to_owned())
                    }
                }
            }
        }
    }
}

fn declare_shape(source: &mut Source, context: &Context<'_>, message: &MessageDefinition) {
    let fields: Vec<_> =
        message.fields.iter().filter(|field| !context.is_fixed_field(&field.ty)).collect();
    let name = context.shape_name_and_lifetime(&message.name);
    let is_derivable = fields.iter().all(|field| literal::is_derivable(field));
    source.doc([format!(
        "The variable parts of a message `{}` that is built in place.",
        message.name
    )]);
    let default = if is_derivable { "Default, " } else { "" };
    source.line(format!("#[derive({default}Clone, Copy, Debug)]"));
    source.line(format!("pub struct {name} {{"));
    for field in &fields {
        let is_length = context.is_fixed_base(&field.ty.base);
        source.doc([format!("{}`{}`.", if is_length { "Length of " } else { "" }, field.ty)]);
        source.line(format!("pub {}: {},", identifier(&field.name), context.shape_type(&field.ty)));
    }
    source.line("}");
    if !is_derivable {
        let fields = fields.into_iter().map(|field| (field, shape_default(context, field)));
        literal::default_impl(source, &name.replace("'s", "'_"), fields);
    }
}

/// Returns the initializer of `field` in the generated `Default` of a shape.
fn shape_default(context: &Context<'_>, field: &Field) -> String {
    match (&field.default, field.ty.shape) {
        (Some(Literal::Array(items)), _) if context.is_fixed_base(&field.ty.base) => {
            items.len().to_string()
        }
        (Some(Literal::Array(items)), shape) => {
            let items: Vec<_> = items.iter().map(|item| text(&field.ty.base, item)).collect();
            let reference = if matches!(shape, Shape::Array(_)) { "" } else { "&" };
            format!("{reference}[{}]", items.join(", "))
        }
        (Some(value), _) => text(&field.ty.base, value),
        (None, _) => literal::undeclared(&field.ty),
    }
}

/// Returns the default of a string, in the form in which shapes hold it.
fn text(ty: &BaseType, value: &Literal) -> String {
    match (ty, value) {
        (BaseType::WString { .. }, Literal::String(text)) => {
            format!("&{:?}", text.encode_utf16().collect::<Vec<_>>())
        }
        (_, Literal::String(text)) => format!("{text:?}"),
        // The parser allows no other default for strings.
        _ => String::new(),
    }
}

fn declare_fields(source: &mut Source, context: &Context<'_>, message: &MessageDefinition) {
    source.doc([format!("The message `{}` being built in place.", message.name)]);
    source.line("#[derive(Debug)]");
    source.line(format!("pub struct {}<'a> {{", context.fields_name(&message.name)));
    for field in &message.fields {
        source.doc([format!("`{}`.", field.ty)]);
        source.line(format!(
            "pub {}: {},",
            identifier(&field.name),
            context.split_field(&field.ty).0
        ));
    }
    if message.fields.is_empty() {
        source.line("nothing: ::core::marker::PhantomData<&'a mut u8>,");
    }
    source.line("}");
}

/// Writes the method that sets a message of fixed size from an owned message.
fn set(source: &mut Source, context: &Context<'_>, message: &MessageDefinition, owned: &str) {
    source.line(format!("impl {}<'_> {{", context.fields_name(&message.name)));
    source.doc(["Sets all fields to those of `message`."]);
    source.line("#[inline]");
    source.line(format!("pub fn set(&mut self, message: &{owned}) {{"));
    for field in &message.fields {
        let name = identifier(&field.name);
        source.line(match (&field.ty.base, field.ty.shape) {
            (BaseType::Nested(_), Shape::Single) => format!("self.{name}.set(&message.{name});"),
            (BaseType::Nested(_), _) => format!(
                "self.{name}.iter_mut().zip(&message.{name}).for_each(|(mut to, from)| to.set(from));"
            ),
            _ => format!("*self.{name} = message.{name};"),
        });
    }
    if message.fields.is_empty() {
        source.line("let _ = message;");
    }
    source.close(2);
}

fn lay_out(source: &mut Source, context: &Context<'_>, message: &MessageDefinition) {
    let m = context.message();
    source.line(format!(
        "fn lay_out<C: {m}::cdr::Canvas>(shape: &Self::Shape<'_>, c: &mut C) -> ::core::result::Result<(), {m}::EncodeError> {{"
    ));
    for field in &message.fields {
        lay_out_field(source, context, field);
    }
    source.line("::core::result::Result::Ok(())");
    source.line("}");
}

/// Writes the statements that lay out one field on the canvas `c`, in the order and with the checks
/// of `Encode::encode`.
fn lay_out_field(source: &mut Source, context: &Context<'_>, field: &Field) {
    let value = format!("shape.{}", identifier(&field.name));
    let is_sequence = matches!(field.ty.shape, Shape::Sequence | Shape::BoundedSequence(_));
    if context.is_fixed_base(&field.ty.base) {
        if is_sequence {
            check_bounds(source, field, "c.", &value, "");
        }
        source.line(lay_out_fixed(context, field, &value, is_sequence));
        return;
    }
    check_bounds(source, field, "c.", &value, ".len()");
    let one = |value: &str| match &field.ty.base {
        BaseType::WString { .. } => format!("c.wstring({value})?;"),
        BaseType::Nested(name) => {
            format!(
                "<{} as {}::Build>::lay_out(&{value}, c)?;",
                context.paths.of_type(name),
                context.message()
            )
        }
        _ => format!("c.string({value})?;"),
    };
    if field.ty.shape == Shape::Single {
        source.line(one(&value));
        return;
    }
    if is_sequence {
        source.line(format!("c.count({value}.len())?;"));
    }
    source.line(format!("for item in {value} {{"));
    source.line(one("item"));
    source.line("}");
}

/// Returns the statement that lays out a field whose elements have a fixed size. `len` is the
/// length of a sequence according to the shape.
fn lay_out_fixed(context: &Context<'_>, field: &Field, len: &str, is_sequence: bool) -> String {
    let count = match field.ty.shape {
        Shape::Array(count) => count,
        _ => 1,
    };
    let declared =
        field.default.as_ref().map(|value| literal::numbers(&field.ty.base, value).join(", "));
    match (primitive(&field.ty.base), &field.ty.base) {
        (Some((ty, _)), _) => match declared {
            _ if is_sequence => {
                format!("c.sequence::<{ty}>({len}, &[{}])?;", declared.unwrap_or_default())
            }
            Some(values) => format!("c.values::<{ty}>(&[{values}])?;"),
            None => format!("c.zeros::<{ty}>({count})?;"),
        },
        (None, BaseType::Nested(name)) => {
            let ty = context.paths.of_type(name);
            if is_sequence {
                format!("c.count({len})?; c.fixed::<{ty}>({len})?;")
            } else {
                format!("c.fixed::<{ty}>({count})?;")
            }
        }
        // This function is not called for strings, which are not fixed.
        (None, _) => String::new(),
    }
}

fn split(source: &mut Source, context: &Context<'_>, message: &MessageDefinition) {
    let m = context.message();
    source.line("#[inline]");
    source.line(format!(
        "fn split<'a>(p: &mut {m}::cdr::Splitter<'a>) -> ::core::result::Result<Self::Fields<'a>, {m}::BuildError> {{"
    ));
    if message.fields.is_empty() {
        source.line("p.nothing()?;");
    }
    source.line(format!("::core::result::Result::Ok({} {{", context.fields_name(&message.name)));
    for field in &message.fields {
        source.line(format!("{}: {},", identifier(&field.name), context.split_field(&field.ty).1));
    }
    if message.fields.is_empty() {
        source.line("nothing: ::core::marker::PhantomData,");
    }
    source.line("})");
    source.line("}");
}
