//! A component's process: makes one component, spins it, and ends with its container.

use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::{ffi::OsString, fs::File, io, thread};

use feros::msgs::composition_interfaces::srv::LoadNode_Request;
use feros::{Context, Executor, message};

use super::wire::Frame;
use feros_executor::RealtimeConfig;
use feros_sync::Mutex;

use crate::command_line::LOCK_MEMORY;
use crate::placement::{Code, drop_catching_panic, instantiate};
use crate::request::apply_log_level;

/// The exit code of a process whose component failed.
const FAILED: u8 = 1;

/// Runs the process. `line` is the ROS part of the container's command line, after
/// [`LOCK_MEMORY`] if the container has locked its memory.
pub(crate) fn main(line: Vec<String>) -> u8 {
    run(line).unwrap_or_else(|error| {
        eprintln!("the process of a component cannot run: {error}");
        FAILED
    })
}

fn run(line: Vec<String>) -> Result<u8, Box<dyn std::error::Error>> {
    let mut socket = take_socket()?;
    let Some(Frame::Start { library, request }) = Frame::read(&mut socket)? else {
        return Err("standard input is not connected to a container".into());
    };
    let code = if library.is_empty() {
        Code::Shipped
    } else {
        Code::Library(OsString::from_vec(library).into())
    };
    let request: LoadNode_Request = message::from_bytes(&request)?;
    let refuse = |mut socket: UnixStream, text: String| {
        Frame::Refused { text }.write(&mut socket)?;
        Ok(FAILED)
    };
    // Scheduling and processors are inherited from the container; locks of memory are not.
    if line.first().is_some_and(|argument| argument == LOCK_MEMORY)
        && let Err(error) = RealtimeConfig::default().lock_memory().apply()
    {
        return refuse(socket, error.to_string());
    }
    let (context, _) = match Context::from_args(line) {
        Ok(made) => made,
        Err(error) => return refuse(socket, error.to_string()),
    };
    let component = match instantiate(&context, &code, &request) {
        Ok(component) => component,
        Err(text) => return refuse(socket, text),
    };
    let node = component.node().clone();
    apply_log_level(&request, node.logger_name());
    let name = node.name().fully_qualified();
    let failure = Arc::new(Mutex::new(None));
    let (inside, ended) = (failure.clone(), context.clone());
    node.on_panic(move |text| {
        *inside.lock() = Some(text.to_owned());
        ended.shutdown();
    });
    let executor = Executor::new();
    if let Err(error) = executor.add_node(&node) {
        return refuse(socket, error.to_string());
    }
    Frame::Started { name: name.clone() }.write(&mut socket)?;
    end_with(socket.try_clone()?, context.clone())?;
    executor.spin()?;
    executor.remove_node(&node);
    drop((executor, node));
    drop_catching_panic(&name, component);
    let text = failure.lock().take();
    Ok(match text {
        Some(text) => {
            // An error means that the container has ended, and it then needs no message.
            drop(Frame::Panicked { text }.write(&mut socket));
            FAILED
        }
        None => 0,
    })
}

/// Takes the socket from standard input, and replaces standard input with an empty file: processes
/// that the component starts must not hold the socket open.
fn take_socket() -> io::Result<UnixStream> {
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok(UnixStream::from(socket))
}

/// Shuts the context down when the container closes the socket or ends.
fn end_with(mut socket: UnixStream, context: Context) -> io::Result<()> {
    thread::Builder::new().name("container".into()).spawn(move || {
        // The container sends no further frame and only closes the socket. An error counts as
        // closing.
        while matches!(Frame::read(&mut socket), Ok(Some(_))) {}
        context.shutdown();
    })?;
    Ok(())
}
