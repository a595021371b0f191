//! Generates the code that declares a struct's parameters.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt as _;
use syn::{Data, DeriveInput, Error, Field, Fields, GenericArgument, PathArguments, Result, Type};

use crate::attributes::FieldAttributes;

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(
            input,
            "only a struct can declare its fields as parameters",
        ));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(
            input,
            "give the fields names: the parameters have the same names",
        ));
    };
    let declarations = fields.named.iter().map(declaration).collect::<Result<Vec<_>>>()?;
    let name = &input.ident;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    Ok(quote! {
        impl #impl_generics ::feros::Parameters for #name #type_generics #where_clause {
            fn declare_below(
                node: &::feros::Node,
                prefix: &str,
            ) -> ::core::result::Result<Self, ::feros::DeclareParameterError> {
                ::core::result::Result::Ok(Self { #(#declarations),* })
            }
        }
    })
}

/// Generates `field: ...`, the initializer that declares the field's parameter.
fn declaration(field: &Field) -> Result<TokenStream> {
    let attributes = FieldAttributes::of(field)?;
    let Some(ident) = &field.ident else {
        return Err(Error::new_spanned(field, "give the field a name"));
    };
    let name =
        attributes.name.as_ref().map_or_else(|| ident.unraw().to_string(), syn::LitStr::value);
    let ty = &field.ty;
    if attributes.is_nested {
        return Ok(quote! {
            #ident: <#ty as ::feros::Parameters>::declare_below(node, &::std::format!("{prefix}{}.", #name))?
        });
    }
    let full_name = quote! { &::std::format!("{prefix}{}", #name) };
    let builder = match (&attributes.default, optional_of(ty)) {
        (Some(default), _) => quote! { node.build_parameter(#full_name, #default) },
        (None, Some(inner)) => quote! { node.build_optional_parameter::<#inner>(#full_name) },
        (None, None) => {
            return Err(Error::new_spanned(
                field,
                "set a default value with `#[parameter(default = ...)]`, or make the field a `Parameter<Option<...>>`; \
                 a struct of parameters needs `#[parameter(nested)]`",
            ));
        }
    };
    let mut calls = Vec::new();
    if !attributes.description.is_empty() {
        let description = &attributes.description;
        calls.push(quote! { .description(#description) });
    }
    if let Some(constraints) = &attributes.constraints {
        calls.push(quote! { .additional_constraints(#constraints) });
    }
    match (&attributes.range, &attributes.step) {
        (Some(range), Some(step)) => calls.push(quote! { .stepped_range(#range, #step) }),
        (Some(range), None) => calls.push(quote! { .range(#range) }),
        (None, _) => {}
    }
    if attributes.is_read_only {
        calls.push(quote! { .read_only() });
    }
    if attributes.ignores_override {
        calls.push(quote! { .ignore_override() });
    }
    Ok(quote! { #ident: #builder #(#calls)*.declare()? })
}

/// Returns the `T` of a `Parameter<Option<T>>`; `None` for any other type.
fn optional_of(ty: &Type) -> Option<&Type> {
    only_argument(ty, "Parameter").and_then(|inner| only_argument(inner, "Option"))
}

fn only_argument<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|segment| segment.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) => Some(inner),
        _ => None,
    }
}
