"""The build of the package, as `ros2 pkg create --build-type ament_python` names its parts."""

from setuptools import find_packages, setup

NAME = "robot_report"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    maintainer="Feros",
    maintainer_email="feros@example.com",
    description="Reports what the robot drives, and where its packages are.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": ["places = robot_report.places:main"],
        "rclpy_components": ["robot_report::TripMeter = robot_report.trip_meter:TripMeter"],
    },
)
