"""The build of the package, as `ros2 pkg create --build-type ament_python` names its parts."""

from setuptools import find_packages, setup

NAME = "robot_lidar"

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
    description="The driver of the lidar.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": ["driver = robot_lidar.driver:main"],
    },
)
