"""Bags through the eyes of other libraries: `rosbags` and `mcap-ros2-support` of PyPI.

    bags.py read FOLDER             reads a bag with rosbags, with the definitions in the bag, and serializes each
                                    message again; JSON with topics, counts and differences
    bags.py decode FILE             decodes each message of an MCAP file with mcap-ros2-support; JSON with the count
    bags.py write FOLDER STORAGE VERSION [MODE]   writes a bag with rosbags: mcap or sqlite3, compressed by file or message
"""
import json
import pathlib
import sys


def read(folder):
    from rosbags.rosbag2 import Reader
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore
    stores, problems, topics = {}, [], {}
    with Reader(folder) as reader:
        for connection in reader.connections:
            topics[connection.topic] = {
                "type": connection.msgtype,
                "count": connection.msgcount,
                "hash": connection.digest,
                "qos": len(connection.ext.offered_qos_profiles),
            }
        for connection, stamp, raw in reader.messages():
            try:
                if connection.msgtype not in stores:
                    store = get_typestore(Stores.EMPTY)
                    types = get_types_from_msg(connection.msgdef.data, connection.msgtype)
                    store.register(types)
                    # `types` may name the types of services differently.
                    name = connection.msgtype if connection.msgtype in types else next(iter(types))
                    stores[connection.msgtype] = store, name
                store, name = stores[connection.msgtype]
                message = store.deserialize_cdr(raw, name)
                again = bytes(store.serialize_cdr(message, name))
                # The end of a message may be padded.
                length = min(len(again), len(raw))
                if again[:length] != bytes(raw[:length]) or any(raw[length:]) or any(again[length:]):
                    problems.append(f"{connection.msgtype}: other bytes")
            except Exception as error:
                problems.append(f"{connection.msgtype}: {type(error).__name__}: {error}")
        return {"topics": topics, "problems": problems, "count": reader.message_count,
                "start": reader.start_time, "end": reader.end_time}


def decode(path):
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory
    count, problems = 0, []
    factory = DecoderFactory()
    with open(path, "rb") as file:
        reader = make_reader(file)
        header = reader.get_header()
        for schema, channel, message in reader.iter_messages():
            try:
                factory.decoder_for(channel.message_encoding, schema)(message.data)
                count += 1
            except Exception as error:
                problems.append(f"{schema.name}: {type(error).__name__}: {error}")
        summary = reader.get_summary()
        return {"count": count, "problems": problems, "profile": header.profile,
                "statistics": summary.statistics.message_count, "chunks": len(summary.chunk_indexes)}


def write(folder, storage, version, mode=""):
    import numpy
    from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore
    store = get_typestore(Stores.ROS2_HUMBLE)
    plugin = {"mcap": StoragePlugin.MCAP, "sqlite3": StoragePlugin.SQLITE3}[storage]
    writer = Writer(pathlib.Path(folder), version=int(version), storage_plugin=plugin)
    if mode:
        writer.set_compression(CompressionMode[mode.upper()], CompressionFormat.ZSTD)
    forever = QosTime(9223372036, 854775807)
    qos = Qos(QosHistory.KEEP_LAST, 3, QosReliability.BEST_EFFORT, QosDurability.TRANSIENT_LOCAL, forever, forever,
              QosLiveliness.AUTOMATIC, forever, False)
    with writer:
        text = writer.add_connection("/text", "std_msgs/msg/String", typestore=store, offered_qos_profiles=[qos])
        image = writer.add_connection("/image", "sensor_msgs/msg/Image", typestore=store)
        types = store.types
        for number in range(100):
            stamp = 1_700_000_000_000_000_000 + number * 1_000_000
            message = types["std_msgs/msg/String"](data=f"text {number}")
            writer.write(text, stamp, store.serialize_cdr(message, "std_msgs/msg/String"))
            time = types["builtin_interfaces/msg/Time"](sec=1, nanosec=number)
            header = types["std_msgs/msg/Header"](stamp=time, frame_id="camera")
            pixels = numpy.full(48, number, dtype=numpy.uint8)
            message = types["sensor_msgs/msg/Image"](header=header, height=4, width=4, encoding="rgb8", is_bigendian=0,
                                                     step=12, data=pixels)
            writer.write(image, stamp + 1, store.serialize_cdr(message, "sensor_msgs/msg/Image"))
    return {}


if __name__ == "__main__":
    print(json.dumps({"read": read, "decode": decode, "write": write}[sys.argv[1]](*sys.argv[2:])))
