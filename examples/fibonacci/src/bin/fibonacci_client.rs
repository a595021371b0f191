//! A client of the action `fibonacci`: sends a goal, prints feedback as it arrives, and then prints
//! the result.
//!
//! ```sh
//! cargo run --bin fibonacci_client -- 8
//! ```

use std::time::Duration;

use feros::msgs::example_interfaces::action::{Fibonacci, Fibonacci_Feedback, Fibonacci_Goal};
use feros::{Context, Error, Executor, Outcome};

fn main() -> Result<(), Error> {
    let (context, rest) = Context::from_args(std::env::args().skip(1))?;
    let order = rest.first().map_or(Ok(5), |order| order.parse()).map_err(Error::other)?;
    let node = context.create_node("fibonacci_client")?;
    let client = node.create_action_client::<Fibonacci>("fibonacci")?;
    client.wait_for_server(Duration::from_secs(30))?;
    let conversation = async {
        let goal = client
            .send_goal_with_feedback(Fibonacci_Goal { order }, |feedback: Fibonacci_Feedback| {
                println!("feedback: {:?}", feedback.sequence);
            })?
            .await?;
        Ok::<_, Error>(goal.get_result()?.await?)
    };
    let executor = Executor::new();
    executor.add_node(&node)?;
    if let Outcome::Completed(outcome) = executor.spin_until_complete(None, conversation)? {
        let outcome = outcome?;
        println!("{}: {:?}", outcome.status, outcome.result.sequence);
    }
    Ok(())
}
