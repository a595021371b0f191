//! `feros pkg xml`: the manifest of a package.

use roxmltree::Document;

use crate::error::CliError;
use crate::nearest::did_you_mean;
use crate::output;
use crate::packages::installed_packages;

/// Print the manifest of a package, or one of its tags
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros pkg xml my_robot -t version")]
pub(crate) struct Args {
    /// Name of the package
    #[arg(value_name = "PACKAGE")]
    package: String,
    /// Print only the texts of this tag
    #[arg(short, long, value_name = "TAG")]
    tag: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let share = installed_packages().share(&args.package).map_err(CliError::failed)?;
    let path = share.join("package.xml");
    let text = feros_files::open(&path)
        .and_then(std::io::read_to_string)
        .map_err(|error| CliError::failed(format!("{} cannot be read: {error}", path.display())))?;
    let Some(tag) = &args.tag else {
        return output::print(&format!("{}\n", text.trim_end()));
    };
    let document = Document::parse(&text)
        .map_err(|error| CliError::failed(format!("{} is not XML: {error}", path.display())))?;
    let texts = texts(&document, tag);
    if texts.is_empty() {
        let known = document.root_element().children().filter(roxmltree::Node::is_element);
        let likely = did_you_mean(tag, known.map(|element| element.tag_name().name()));
        return Err(CliError::failed(format!("{} has no tag {tag}{likely}", path.display())));
    }
    output::print(&(texts.join("\n") + "\n"))
}

/// The texts of the elements with this tag that are children of the root.
fn texts<'a>(document: &'a Document<'_>, tag: &str) -> Vec<&'a str> {
    let elements = document.root_element().children();
    let elements = elements.filter(|element| element.is_element() && element.has_tag_name(tag));
    elements.map(|element| element.text().unwrap_or("").trim()).collect()
}

/// Returns the version in a manifest, if the manifest contains one.
pub(in crate::commands) fn version(manifest: &str) -> Option<String> {
    let document = Document::parse(manifest).ok()?;
    texts(&document, "version").first().map(|version| (*version).to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn tags_are_those_right_below_the_root() {
        let text = "<package><name>a</name><depend>b</depend><depend> c </depend><export><name>d</name></export></package>";
        let document = Document::parse(text).unwrap();
        assert_eq!(texts(&document, "depend"), ["b", "c"]);
        assert_eq!(texts(&document, "name"), ["a"]);
        assert_eq!(texts(&document, "version"), [""; 0]);
        assert_eq!(
            version("<package><version>1.2.3</version></package>").as_deref(),
            Some("1.2.3")
        );
        assert_eq!(version("<package>"), None);
    }
}
