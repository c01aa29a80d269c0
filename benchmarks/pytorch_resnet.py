"""ResNets in plain torch.nn, with the names and results of proca's (and torchvision's)."""

import torch
from torch import nn

# name: (small stem, bottleneck blocks, blocks per stage, widths)
LAYOUTS = {
    "resnet18": (False, False, (2, 2, 2, 2), (64, 128, 256, 512)),
    "resnet34": (False, False, (3, 4, 6, 3), (64, 128, 256, 512)),
    "resnet50": (False, True, (3, 4, 6, 3), (64, 128, 256, 512)),
    "resnet101": (False, True, (3, 4, 23, 3), (64, 128, 256, 512)),
    "resnet152": (False, True, (3, 8, 36, 3), (64, 128, 256, 512)),
    "resnet-small": (True, False, (2, 2, 2), (16, 32, 64)),
}


def convolution(inputs, outputs, kernel, stride=1):
    return nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)


class Block(nn.Module):
    def __init__(self, inputs, width, stride, bottleneck, stride_in):
        super().__init__()
        outputs = width * 4 if bottleneck else width
        if bottleneck:
            first = stride if stride_in == "1x1" else 1
            self.conv1, self.bn1 = convolution(inputs, width, 1, first), nn.BatchNorm2d(width)
            self.conv2 = convolution(width, width, 3, stride // first)
            self.bn2 = nn.BatchNorm2d(width)
            self.conv3, self.bn3 = convolution(width, outputs, 1), nn.BatchNorm2d(outputs)
        else:
            self.conv1, self.bn1 = convolution(inputs, width, 3, stride), nn.BatchNorm2d(width)
            self.conv2, self.bn2 = convolution(width, width, 3), nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(convolution(inputs, outputs, 1, stride),
                                            nn.BatchNorm2d(outputs))
        self.bottleneck, self.outputs = bottleneck, outputs

    def forward(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        x = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        if self.bottleneck:
            x = self.bn3(self.conv3(self.relu(x)))
        return self.relu(x + shortcut)


class ResNet(nn.Module):
    """images -> (features, logits)"""

    def __init__(self, name, num_classes, stride_in="3x3"):
        super().__init__()
        small, bottleneck, blocks, widths = LAYOUTS[name]
        channels = widths[0]
        self.conv1 = convolution(3, channels, 3 if small else 7, 1 if small else 2)
        self.bn1 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.Identity() if small else nn.MaxPool2d(3, 2, 1)
        self.stages = []
        for stage, (count, width) in enumerate(zip(blocks, widths)):
            layers = []
            for i in range(count):
                stride = 2 if stage > 0 and i == 0 else 1
                layers.append(Block(channels, width, stride, bottleneck, stride_in))
                channels = layers[-1].outputs
            self.add_module(f"layer{stage + 1}", nn.Sequential(*layers))
            self.stages.append(f"layer{stage + 1}")
        self.fc = nn.Linear(channels, num_classes)

    def forward(self, images):
        x = self.maxpool(self.relu(self.bn1(self.conv1(images))))
        for stage in self.stages:
            x = getattr(self, stage)(x)
        features = x.mean((2, 3))
        return features.float(), self.fc(features).float()
