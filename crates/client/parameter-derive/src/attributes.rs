//! The attribute `#[parameter(...)]` and the documentation of a field.

use syn::{Attribute, Error, Expr, ExprLit, ExprRange, Field, Lit, LitStr, Meta, Result};

/// The contents of a field's `#[parameter(...)]` and its documentation.
#[derive(Default)]
pub(crate) struct FieldAttributes {
    pub(crate) name: Option<LitStr>,
    pub(crate) default: Option<Expr>,
    pub(crate) range: Option<ExprRange>,
    pub(crate) step: Option<Expr>,
    pub(crate) constraints: Option<LitStr>,
    pub(crate) is_read_only: bool,
    pub(crate) ignores_override: bool,
    /// The field is itself a struct of parameters, whose names begin with the field's name.
    pub(crate) is_nested: bool,
    /// The documentation, joined into one line.
    pub(crate) description: String,
}

impl FieldAttributes {
    pub(crate) fn of(field: &Field) -> Result<Self> {
        let mut found = Self { description: description(&field.attrs), ..Self::default() };
        for attribute in field.attrs.iter().filter(|a| a.path().is_ident("parameter")) {
            found.read(attribute)?;
        }
        found.check(field)?;
        Ok(found)
    }

    fn read(&mut self, attribute: &Attribute) -> Result<()> {
        attribute.parse_nested_meta(|meta| {
            let key = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            match key.as_str() {
                "name" => self.name = Some(meta.value()?.parse()?),
                "default" => self.default = Some(meta.value()?.parse()?),
                "range" => self.range = Some(meta.value()?.parse()?),
                "step" => self.step = Some(meta.value()?.parse()?),
                "constraints" => self.constraints = Some(meta.value()?.parse()?),
                "read_only" => self.is_read_only = true,
                "ignore_override" => self.ignores_override = true,
                "nested" => self.is_nested = true,
                _ => {
                    return Err(meta.error(
                        "unknown attribute; the known attributes are name, default, range, step, \
                         constraints, read_only, ignore_override and nested",
                    ));
                }
            }
            Ok(())
        })
    }

    fn check(&self, field: &Field) -> Result<()> {
        if let Some(range) = &self.range
            && (range.start.is_none()
                || range.end.is_none()
                || !matches!(range.limits, syn::RangeLimits::Closed(_)))
        {
            return Err(Error::new_spanned(
                range,
                "write both bounds, which are part of the range: `10..=60`",
            ));
        }
        if let (Some(step), None) = (&self.step, &self.range) {
            return Err(Error::new_spanned(step, "a step needs a range"));
        }
        let says_more = self.default.is_some()
            || self.range.is_some()
            || self.constraints.is_some()
            || self.is_read_only
            || self.ignores_override;
        if self.is_nested && says_more {
            return Err(Error::new_spanned(
                field,
                "a nested struct declares its own fields: only `name` is allowed here",
            ));
        }
        Ok(())
    }
}

/// Returns the lines of a field's documentation, joined by spaces.
fn description(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    lines
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
