#!/usr/bin/env python3
"""Reads TensorBoard event files with other people's code: checksums by crcmod, messages by
Google's protobuf. Prints one JSON object per value; ends with 1 where a file is not as
TensorBoard wants it. Usage: read_events.py FILE..."""

import io
import json
import struct
import sys

import crcmod.predefined
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from PIL import Image

Field = descriptor_pb2.FieldDescriptorProto

# The parts of tensorflow/core/util/event.proto and framework/summary.proto that are in use.
MESSAGES = {
    "Image": [("height", 1, Field.TYPE_INT32, None), ("width", 2, Field.TYPE_INT32, None),
              ("colorspace", 3, Field.TYPE_INT32, None),
              ("encoded_image_string", 4, Field.TYPE_BYTES, None)],
    "Value": [("tag", 1, Field.TYPE_STRING, None), ("simple_value", 2, Field.TYPE_FLOAT, None),
              ("image", 4, Field.TYPE_MESSAGE, "Image")],
    "Summary": [("value", 1, Field.TYPE_MESSAGE, "Value")],
    "Event": [("wall_time", 1, Field.TYPE_DOUBLE, None), ("step", 2, Field.TYPE_INT64, None),
              ("file_version", 3, Field.TYPE_STRING, None),
              ("summary", 5, Field.TYPE_MESSAGE, "Summary")],
}


def event_class():
    file = descriptor_pb2.FileDescriptorProto(name="event.proto", package="t", syntax="proto2")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, number, kind, of in fields:
            many = field == "value"
            label = Field.LABEL_REPEATED if many else Field.LABEL_OPTIONAL
            message.field.add(name=field, number=number, type=kind, label=label,
                              type_name=f".t.{of}" if of else None)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(
        pool.FindMessageTypeByName("t.Event"))


CRC32C = crcmod.predefined.mkCrcFun("crc-32c")
EVENT = event_class()


def masked(data):
    crc = CRC32C(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(path):
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        length = data[at:at + 8]
        size, = struct.unpack("<Q", length)
        assert data[at + 8:at + 12] == struct.pack("<I", masked(length)), "checksum of a length"
        content = data[at + 12:at + 12 + size]
        assert data[at + 12 + size:at + 16 + size] == struct.pack("<I", masked(content)), \
            "checksum of a content"
        yield content
        at += size + 16


def events(path):
    for number, content in enumerate(records(path)):
        event = EVENT()
        event.ParseFromString(content)
        assert not event.UnknownFields() if hasattr(event, "UnknownFields") else True
        assert event.wall_time > 1.5e9, "no time"
        if number == 0:
            assert event.file_version == "brain.Event:2", "no version"
        yield event


def shown(event):
    for value in event.summary.value:
        entry = {"tag": value.tag, "step": event.step}
        if value.HasField("image"):
            picture = Image.open(io.BytesIO(value.image.encoded_image_string))
            picture.load()
            assert picture.size == (value.image.width, value.image.height), "size of an image"
            assert value.image.colorspace == 3 and picture.mode == "RGB", "not RGB"
            entry["image"] = list(picture.size)
        else:
            entry["value"] = value.simple_value
        yield entry


def main():
    for path in sys.argv[1:]:
        try:
            for event in events(path):
                for entry in shown(event):
                    print(json.dumps(entry))
        except (AssertionError, struct.error) as error:
            sys.exit(f"{path}: is no event file of TensorBoard: {error}")


if __name__ == "__main__":
    main()
