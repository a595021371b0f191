//! Nodes.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::{CString, c_char};
use std::sync::{Arc, Weak};

use feros_engine::NodeId;
use feros_sync::Mutex;

use crate::arguments::text;
use crate::context::Context;
use crate::error::{Failure, guarded, guarded_pointer};
use crate::ffi::{rmw_context_t, rmw_guard_condition_t, rmw_node_t, rmw_ret_t};
use crate::handle::{self, handle};
use crate::identity::identifier;
use crate::names;

/// An object that ends with its node if the host program forgets to destroy it.
pub(crate) trait EndsWithNode: Send + Sync {
    /// Ends the object, unless it has already ended.
    fn end(&self);
}

/// The object that the `data` field of an `rmw_node_t` points to.
pub(crate) struct NodeEnd {
    pub(crate) context: Arc<Context>,
    pub(crate) id: NodeId,
    name: CString,
    namespace: CString,
    /// The servers that end with the node, unless they have ended earlier.
    servers: Mutex<Vec<Weak<dyn EndsWithNode>>>,
}

handle!(rmw_node_t => NodeEnd);

impl NodeEnd {
    /// Makes the server end with the node, unless the host program ends it earlier.
    pub(crate) fn keep(&self, server: Weak<dyn EndsWithNode>) {
        let mut servers = self.servers.lock();
        servers.retain(|known| known.strong_count() > 0);
        servers.push(server);
    }

    fn end_servers(&self) {
        let servers = std::mem::take(&mut *self.servers.lock());
        servers.iter().filter_map(Weak::upgrade).for_each(|server| server.end());
    }
}

/// Creates a node.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_create_node(
    context: *mut rmw_context_t,
    name: *const c_char,
    namespace: *const c_char,
) -> *mut rmw_node_t {
    guarded_pointer(|| {
        // SAFETY: [handles] the context is null, zero-initialized or valid. [strings] The name and
        // the namespace end with NUL.
        let (of, name, namespace) =
            unsafe { (Context::of(context)?, text(name, "name")?, text(namespace, "namespace")?) };
        let id = of.session.create_node(&names::node_name(namespace, name)?);
        let end = Box::new(NodeEnd {
            context: of,
            id: id.map_err(Failure::error)?,
            name: CString::new(name).map_err(Failure::error)?,
            namespace: CString::new(namespace).map_err(Failure::error)?,
            servers: Mutex::default(),
        });
        let (name, namespace_) = (end.name.as_ptr(), end.namespace.as_ptr());
        Ok(Box::into_raw(Box::new(rmw_node_t {
            implementation_identifier: identifier(),
            data: Box::into_raw(end).cast(),
            name,
            namespace_,
            context,
        })))
    })
}

/// Destroys a node. The host program has destroyed its endpoints.
///
/// # Safety
/// The node is null or was made by [`rmw_create_node`], and is not used afterwards.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_destroy_node(node: *mut rmw_node_t) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the node is alive. [destruction] This is its last use.
        let end = unsafe { handle::free(node) }?;
        end.end_servers();
        let context = Arc::clone(&end.context);
        context.end(end, |end| context.session.remove_node(end.id));
        Ok(())
    })
}

/// The guard condition that graph changes trigger. All nodes of a context share it.
///
/// # Safety
/// The node is null or valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_node_get_graph_guard_condition(
    node: *const rmw_node_t,
) -> *const rmw_guard_condition_t {
    guarded_pointer(|| {
        // SAFETY: [handles] the node is null or alive.
        Ok(unsafe { handle::end(node) }?.context.graph_condition_object().cast_mut())
    })
}
