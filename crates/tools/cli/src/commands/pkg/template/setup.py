"""The build of the package."""

from glob import glob

from setuptools import find_packages, setup

NAME = "PACKAGE_NAME"

setup(
    name=NAME,
    version="0.0.0",
    packages=find_packages(exclude=["test"]),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", glob("launch/*")),
        (f"share/{NAME}/config", glob("config/*")),
    ],
    install_requires=["setuptools"],
    maintainer=MAINTAINER,
    maintainer_email=EMAIL,
    description=DESCRIPTION,
    license=LICENSE,
    entry_points={
        "console_scripts": ["NODE_NAME = PACKAGE_NAME.NODE_NAME:main"],
    },
)
