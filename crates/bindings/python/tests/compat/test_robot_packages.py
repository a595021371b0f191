"""The packages that robots use beside the standard ones are imported under their own names."""

import importlib
from pathlib import Path

import pytest
from rclpy.serialization import deserialize_message, serialize_message

ROBOTS = Path(__file__).parents[5] / "interfaces" / "robots"
PARTS = {"msg": [], "srv": ["Request", "Response"], "action": ["Goal", "Result", "Feedback"]}
PACKAGES = sorted(folder.name for folder in ROBOTS.iterdir() if folder.is_dir())


def definitions(package, namespace):
    return sorted(file.stem for file in (ROBOTS / package / namespace).glob(f"*.{namespace}"))


@pytest.mark.parametrize("package", PACKAGES)
def test_every_type_of_a_package_is_imported(package):
    count = 0
    for namespace in ("msg", "srv", "action"):
        names = definitions(package, namespace)
        if not names:
            with pytest.raises(ImportError):
                importlib.import_module(f"{package}.{namespace}")
            continue
        module = importlib.import_module(f"{package}.{namespace}")
        assert sorted(module.__all__) == names
        for name in names:
            found = getattr(module, name)
            for cls in [getattr(found, part) for part in PARTS[namespace]] or [found]:
                # A default such as 0.3 of a float32 is rounded when it is serialized.
                message = deserialize_message(serialize_message(cls()), cls)
                assert deserialize_message(serialize_message(message), cls) == message
                count += 1
    assert count > 0


def test_all_packages_are_known():
    from feros.interfaces import packages

    assert len(PACKAGES) >= 30
    assert set(PACKAGES) <= set(packages())


def test_a_goal_of_nav2_survives():
    from nav2_msgs.action import NavigateToPose

    goal = NavigateToPose.Goal(behavior_tree="replanning.xml")
    goal.pose.header.frame_id = "map"
    goal.pose.pose.position.x = 1.5
    again = deserialize_message(serialize_message(goal), NavigateToPose.Goal)
    assert again == goal
    assert (again.pose.header.frame_id, again.pose.pose.position.x) == ("map", 1.5)
    assert NavigateToPose.Result.FAILED_TO_LOAD_BEHAVIOR_TREE == 9001
    assert NavigateToPose.Feedback().distance_remaining == 0.0


def test_defaults_and_constants_are_those_of_the_definitions():
    from control_msgs.msg import MotionPrimitive
    from moveit_msgs.msg import MoveItErrorCodes
    from ros_gz_interfaces.msg import EntityFactory
    from ur_msgs.srv import SetForceMode

    assert EntityFactory().relative_to == "world"
    assert MotionPrimitive().type == -1
    assert list(SetForceMode.Request().deviation_limits) == pytest.approx([0.01] * 6)
    assert MoveItErrorCodes.SUCCESS == 1


def test_detections_are_published_and_received(node, spin_until):
    from vision_msgs.msg import Detection2D, Detection2DArray, ObjectHypothesisWithPose

    heard = []
    node.create_subscription(Detection2DArray, "detections", heard.append, 10)
    publisher = node.create_publisher(Detection2DArray, "detections", 10)
    detection = Detection2D(id="7", results=[ObjectHypothesisWithPose()])
    detection.results[0].hypothesis.class_id = "dog"
    detection.bbox.center.theta = 0.5
    sent = Detection2DArray(detections=[detection])
    spin_until(lambda: publisher.get_subscription_count() == 1)
    publisher.publish(sent)
    spin_until(lambda: heard)
    assert heard == [sent]
    assert heard[0].detections[0].results[0].hypothesis.class_id == "dog"
