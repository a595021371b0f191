//! The component, created from its parameters as a container does.
#![allow(clippy::unwrap_used)]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::mpsc::sync_channel;

use feros::engine::SessionOptions;
use feros::msgs::rcl_interfaces::msg::Log;
use feros::{
    Arguments, Context, ContextOptions, Executor, NodeOptions, Outcome, ParameterValue, QosProfile,
};
use feros_component::Component as _;
use feros_interop::Domain;
use feros_test_support::WATCHDOG;
use feros_view_component::View;

fn context(domain: &Domain) -> Context {
    Context::new(ContextOptions::new(SessionOptions::localhost(domain.id().into()))).unwrap()
}

fn options<const N: usize>(parameters: [(&str, ParameterValue); N]) -> NodeOptions {
    NodeOptions::new("").parameter_overrides(parameters)
}

#[test]
fn the_page_is_served_as_long_as_the_component_lives() {
    let domain = Domain::reserve_without_ros2();
    let context = context(&domain);
    let view = View::new(&context, options([("port", 0.into())])).unwrap();
    let host = view.link().strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
    let mut stream = TcpStream::connect(&host).unwrap();
    let head = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    drop(view);
    assert!(TcpStream::connect(&host).is_err(), "it has ended");
}

#[test]
fn parameters_that_cannot_be_are_refused() {
    let domain = Domain::reserve_without_ros2();
    let context = context(&domain);
    let refusal = |parameters| match View::new(&context, options([parameters])) {
        Ok(_) => panic!("it was made"),
        Err(error) => error.to_string(),
    };
    assert!(refusal(("address", "robot".into())).contains("give an address such as 0.0.0.0"));
    assert!(refusal(("port", 70_000.into())).contains("port"));
}

/// Set for a test's second process, whose standard error the first process reads.
const SECOND: &str = "FEROS_TEST_OF_THE_TOKEN";

/// Runs this test in a separate process, with or without a token. Returns its standard error.
fn in_a_process_of_its_own(test: &str, token: Option<&str>) -> String {
    let mut command = feros_test_support::this_program();
    command.args([test, "--exact", "--nocapture"]).env(SECOND, "1").env_remove("FEROS_VIEW_TOKEN");
    let output = command.envs(token.map(|token| ("FEROS_VIEW_TOKEN", token))).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

/// Returns the texts on `/rosout` about a view, and the query part of the view's link.
fn on_rosout(address: &str) -> (Vec<String>, String) {
    feros::logging::init(&Arguments::default());
    let domain = Domain::reserve_without_ros2();
    let (here, there) = (context(&domain), context(&domain));
    let listener = there.create_node("listener").unwrap();
    let (sender, receiver) = sync_channel(16);
    let _subscription = listener
        .create_subscription("/rosout", QosProfile::rosout_default(), move |log: Log| {
            sender.send(log.msg).unwrap()
        })
        .unwrap();
    let view =
        View::new(&here, options([("port", 0.into()), ("address", address.into())])).unwrap();
    feros::info!(view.node(), "the last line");
    let executor = Executor::new();
    executor.add_node(&listener).unwrap();
    let mut heard: Vec<String> = Vec::new();
    let heard_all = executor.spin_until(Some(WATCHDOG), || {
        heard.extend(receiver.try_iter());
        heard.last().is_some_and(|line| line == "the last line")
    });
    assert_eq!(heard_all, Ok(Outcome::Completed(())), "{heard:?}");
    let (_, query) = view.link().split_once("/?").unwrap();
    (heard, query.to_owned())
}

fn page_is_told_without_token(address: &str, hint: &str) {
    let (heard, query) = on_rosout(address);
    let token = query.strip_prefix("token=").unwrap();
    assert!(heard.iter().all(|line| !line.contains(token)), "{heard:?}");
    let page = heard.iter().find(|line| line.starts_with("the page is at http://")).unwrap();
    assert!(page.contains(hint), "{page}");
}

#[test]
fn a_token_that_is_made_up_is_told_on_standard_error_alone() {
    if std::env::var_os(SECOND).is_some() {
        return page_is_told_without_token(
            "0.0.0.0",
            "prints the link with the token to standard error",
        );
    }
    let test = "a_token_that_is_made_up_is_told_on_standard_error_alone";
    // An empty variable counts as unset.
    for token in [None, Some("")] {
        let said = in_a_process_of_its_own(test, token);
        let links: Vec<_> = said.lines().filter(|line| line.contains("token=")).collect();
        let is_link = |link: &str| link.starts_with("link of the page: http://");
        assert!(matches!(*links, [link] if is_link(link)), "{said}");
    }
}

#[test]
fn a_token_that_the_user_has_set_is_told_nowhere() {
    if std::env::var_os(SECOND).is_some() {
        return page_is_told_without_token("127.0.0.1", "with the token in FEROS_VIEW_TOKEN");
    }
    let test = "a_token_that_the_user_has_set_is_told_nowhere";
    let said = in_a_process_of_its_own(test, Some("0123456789abcdef"));
    assert!(said.contains("the page is at http://127.0.0.1:"), "{said}");
    assert!(!said.contains("0123456789abcdef"), "{said}");
}
