//! The robot that the commands and the examples of the book talk to: it has everything that they
//! name, so that they run unchanged.

use std::thread;
use std::time::Duration;

use feros::lifecycle::LifecycleCallbacks;
use feros::msgs::example_interfaces::action::{
    Fibonacci, Fibonacci_Feedback, Fibonacci_Goal, Fibonacci_Result,
};
use feros::msgs::geometry_msgs::msg::Twist;
use feros::msgs::nav_msgs::msg::Odometry;
use feros::msgs::sensor_msgs::msg::{BatteryState, CameraInfo, Image, LaserScan};
use feros::msgs::std_msgs::msg::{Bool, Float64, String as Text};
use feros::msgs::std_srvs::srv::{
    SetBool, SetBool_Request, SetBool_Response, Trigger, Trigger_Request, Trigger_Response,
};
use feros::{
    ActionServer, CancelResponse, Context, Error, Executor, GoalId, GoalResponse, Node,
    NodeOptions, NodeTimer, Publisher, QosProfile, ServerGoalHandle, Service,
    ServiceIntrospectionState, info,
};
use feros_tf2::glam::DVec3;
use feros_tf2::{StaticTransformBroadcaster, Transform, TransformBroadcaster};

/// How long the robot waits for its own servers.
const PATIENCE: Duration = Duration::from_secs(5);
/// The period at which the robot calls its servers.
const PERIOD: Duration = Duration::from_millis(300);

/// A managed node that does nothing.
#[derive(Default)]
struct Managed;

impl LifecycleCallbacks for Managed {}

/// The line that the robot prints when commands and examples may begin.
pub const IS_THERE: &str = "the robot is there";

/// Runs the robot until a signal, or until `ends` returns, which is called on its own thread.
///
/// # Errors
/// If a part of the robot cannot be made.
pub fn run(ends: Option<fn()>) -> Result<(), Error> {
    let context = Context::from_env()?;
    if let Some(ends) = ends {
        let context = context.clone();
        let wait = move || {
            ends();
            context.shutdown();
        };
        drop(thread::Builder::new().name("end".into()).spawn(wait).map_err(Error::other)?);
    }
    let robot = context.create_node_with(NodeOptions::new("robot").enable_logger_service(true))?;
    let camera = context.create_lifecycle_node("camera", Managed)?;
    let (_rate, _gain) =
        (camera.declare_parameter("rate", 30)?, camera.declare_parameter("gain", 1.0)?);
    let _lit = camera.declare_parameter("spot.is_lit", true)?;
    let talker = context.create_lifecycle_node("talker", Managed)?;
    let below = context.create_node_with(NodeOptions::new("camera").namespace("/robot"))?;
    let _below =
        (below.declare_parameter("rate", 30.0)?, below.declare_parameter("frame_id", "c")?);
    let _topics = Topics::start(&robot)?;
    let _services = services(&robot)?;
    let _fibonacci = fibonacci(&robot)?;
    let _frames = frames(&robot)?;
    let callers = callers(&robot)?;
    let executor = Executor::builder().threads(2).build();
    for node in [&robot, &*camera, &*talker, &below] {
        executor.add_node(node)?;
    }
    println!("{IS_THERE}");
    let ended = executor.spin().map(drop);
    for caller in callers {
        caller.join().map_err(|_| Error::other("a thread of the robot panicked"))?;
    }
    Ok(ended?)
}

/// The topics that the robot publishes all the time.
struct Topics {
    _timers: Vec<NodeTimer>,
}

impl Topics {
    fn start(node: &Node) -> Result<Self, Error> {
        let mut timers = Vec::new();
        let scan =
            LaserScan { ranges: vec![0.2; 8], header: node.header("odom"), ..LaserScan::default() };
        let twist = Twist { linear: vector(0.2), ..Twist::default() };
        let image = Image { height: 2, width: 2, step: 2, data: vec![7; 4], ..Image::default() };
        let battery =
            BatteryState { percentage: 0.1, location: "slot 1".into(), ..BatteryState::default() };
        timers.push(repeat(
            node,
            "chatter",
            QosProfile::default(),
            Text { data: "a word".into() },
        )?);
        timers.push(repeat(node, "odom", QosProfile::default(), Odometry::default())?);
        timers.push(repeat(node, "scan", QosProfile::sensor_data(), scan)?);
        timers.push(repeat(node, "cmd_vel", QosProfile::default(), twist)?);
        timers.push(repeat(node, "batteries", QosProfile::default(), battery)?);
        timers.push(repeat(node, "raw", QosProfile::default(), Float64 { data: 1.0 })?);
        timers.push(repeat(node, "force", QosProfile::default(), Float64 { data: 1.0 })?);
        timers.push(repeat(node, "enable", QosProfile::default(), Bool { data: true })?);
        timers.push(repeat(node, "image", QosProfile::default(), image.clone())?);
        timers.push(repeat(node, "camera_info", QosProfile::default(), CameraInfo::default())?);
        timers.push(repeat(node, "camera/image_raw", QosProfile::sensor_data(), image)?);
        let logger = node.child_logger("nav");
        timers.push(node.create_wall_timer(Duration::from_millis(200), move || {
            feros::warn!(logger, "on the way");
        })?);
        Ok(Self { _timers: timers })
    }
}

fn vector(x: f64) -> feros::msgs::geometry_msgs::msg::Vector3 {
    feros::msgs::geometry_msgs::msg::Vector3 { x, ..Default::default() }
}

fn repeat<M: feros::message::Message + Send + Sync + 'static>(
    node: &Node,
    topic: &str,
    qos: QosProfile,
    message: M,
) -> Result<NodeTimer, Error> {
    let publisher: Publisher<M> = node.create_publisher(topic, qos)?;
    let logger = node.clone();
    Ok(node.create_wall_timer(Duration::from_millis(50), move || {
        if let Err(problem) = publisher.publish(&message) {
            info!(logger, "{problem}");
        }
    })?)
}

/// Serves `/enable`, whose calls are published, and `/reset`.
fn services(node: &Node) -> Result<(Service<SetBool>, Service<Trigger>), Error> {
    let enable = node.create_service::<SetBool, _>("enable", |request: SetBool_Request| {
        SetBool_Response { success: true, message: format!("enabled: {}", request.data) }
    })?;
    let contents = ServiceIntrospectionState::Contents;
    enable.configure_introspection(node.clock(), QosProfile::system_default(), contents)?;
    let reset = node.create_service::<Trigger, _>("reset", |_: Trigger_Request| {
        Trigger_Response { success: true, message: "as new".into() }
    })?;
    Ok((enable, reset))
}

/// Serves the action, slowly enough that it can be canceled.
fn fibonacci(node: &Node) -> Result<ActionServer<Fibonacci>, Error> {
    let decide = |_: &GoalId, _: &Fibonacci_Goal| GoalResponse::AcceptAndExecute;
    let cancel = |_: &ServerGoalHandle<Fibonacci>| CancelResponse::Accept;
    let accepted = |goal: ServerGoalHandle<Fibonacci>| {
        let work = move || {
            if let Err(problem) = reach(&goal) {
                eprintln!("{problem}");
            }
        };
        drop(thread::Builder::new().name("goal".into()).spawn(work));
    };
    Ok(node.create_action_server::<Fibonacci, _>("fibonacci", (decide, cancel, accepted))?)
}

fn reach(goal: &ServerGoalHandle<Fibonacci>) -> Result<(), Error> {
    let mut sequence = vec![0, 1];
    for at in 1..goal.goal().order.try_into().unwrap_or(0) {
        if goal.is_canceling() {
            return Ok(goal.canceled(Fibonacci_Result { sequence })?);
        }
        sequence.push(i32::wrapping_add(sequence[at - 1], sequence[at]));
        goal.publish_feedback(Fibonacci_Feedback { sequence: sequence.clone() })?;
        thread::sleep(Duration::from_millis(50));
    }
    Ok(goal.succeed(Fibonacci_Result { sequence })?)
}

/// Publishes transforms: `map` to `odom` is static, `odom` to `base_link` moves, `camera` is fixed.
fn frames(node: &Node) -> Result<(StaticTransformBroadcaster, NodeTimer), Error> {
    let still = StaticTransformBroadcaster::new(node)?;
    let mount = Transform::from_translation(DVec3::new(0.2, 0.0, 0.5));
    let now = node.clock().now();
    still.send_transforms(vec![
        mount.to_stamped("map", "odom", now),
        mount.to_stamped("base_link", "camera", now),
    ])?;
    let moving = TransformBroadcaster::new(node)?;
    let (clock, logger) = (node.clone(), node.clone());
    let timer = node.create_wall_timer(Duration::from_millis(20), move || {
        let moved = mount.to_stamped("odom", "base_link", clock.clock().now());
        if let Err(problem) = moving.send_transform(moved) {
            info!(logger, "{problem}");
        }
    })?;
    Ok((still, timer))
}

/// Threads that call `/enable` and send goals until the context is shut down, so that commands that
/// show calls have something to show.
fn callers(node: &Node) -> Result<Vec<thread::JoinHandle<()>>, Error> {
    let client = node.create_client::<SetBool>("enable")?;
    let actions = node.create_action_client::<Fibonacci>("fibonacci")?;
    let (context, of_goals) = (node.context().clone(), node.context().clone());
    let calls = move || {
        while context.is_ok() {
            drop(client.call_and_wait(&SetBool_Request { data: true }, PATIENCE));
            thread::sleep(PERIOD);
        }
    };
    let goals = move || {
        while of_goals.is_ok() {
            let goal = actions.send_goal_and_wait(Fibonacci_Goal { order: 3 }, PATIENCE);
            drop(goal.map(|goal| goal.get_result().map(|result| result.wait(PATIENCE))));
            thread::sleep(PERIOD);
        }
    };
    let begin = |name: &str, work: Box<dyn FnOnce() + Send>| {
        thread::Builder::new().name(name.into()).spawn(work).map_err(Error::other)
    };
    Ok(vec![begin("calls", Box::new(calls))?, begin("goals", Box::new(goals))?])
}
