//! An action on the network: the names of its three services and two topics, and their types.

use feros_message::Action;

use crate::messages::identity::{ServiceIdentity, TypeIdentity};

/// The names of an action's services and topics.
pub(super) struct ActionNames {
    pub(super) send_goal: String,
    pub(super) cancel_goal: String,
    pub(super) get_result: String,
    pub(super) feedback: String,
    pub(super) status: String,
}

impl ActionNames {
    /// Derives the names from the fully qualified name of the action.
    pub(super) fn of(action: &str) -> Self {
        let name = |part: &str| format!("{action}/_action/{part}");
        Self {
            send_goal: name("send_goal"),
            cancel_goal: name("cancel_goal"),
            get_result: name("get_result"),
            feedback: name("feedback"),
            status: name("status"),
        }
    }
}

/// The name and the hashes of an action type, as its endpoints announce them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionIdentity {
    /// The name, in the form `package/action/Name`.
    pub name: String,
    /// The service that takes goals.
    pub send_goal: ServiceIdentity,
    /// The service that returns results.
    pub get_result: ServiceIdentity,
    /// The message of the feedback topic.
    pub feedback: TypeIdentity,
}

impl ActionIdentity {
    /// The identity of a generated action type.
    pub fn of<A: Action>() -> Self {
        Self {
            name: A::TYPE_NAME.to_owned(),
            send_goal: ServiceIdentity::of::<A::SendGoal>(),
            get_result: ServiceIdentity::of::<A::GetResult>(),
            feedback: TypeIdentity::of::<A::FeedbackMessage>(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use feros_msgs::example_interfaces::action::Fibonacci;

    #[test]
    fn names_are_those_of_rcl_action() {
        let names = ActionNames::of("/ns/fib");
        assert_eq!(names.send_goal, "/ns/fib/_action/send_goal");
        assert_eq!(names.status, "/ns/fib/_action/status");
        let identity = ActionIdentity::of::<Fibonacci>();
        assert_eq!(identity.send_goal.name, "example_interfaces/action/Fibonacci_SendGoal");
        assert_eq!(identity.feedback.name, "example_interfaces/action/Fibonacci_FeedbackMessage");
    }
}
