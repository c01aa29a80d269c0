"""ProCA in plain PyTorch: the yardstick for `proca run --method proca`.

    python3 benchmarks/pytorch_proca.py --preset presets/office31-ci.toml --data-root DIR \\
        --source amazon --target webcam --source-state STATE --precision bf16

It does what `proca run` does with its default options (variant "paper"), from the same
source model, and in the way of a good PyTorch program: images decoded once by all cores,
kept as bytes on the device and normalised there, losses and clustering in tensor
operations, nothing read back inside an epoch, fused SGD, channels-last. It has three
network calls per iteration, no CUDA graph and no kernels of its own. Random choices are
PyTorch's, so accuracies agree within noise only.

With --bench-iteration it times adaptation iterations on made-up images instead.
Prints one JSON object.
"""

import time

STARTED = time.perf_counter()

import argparse  # noqa: E402
import contextlib  # noqa: E402
import inspect  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import resource  # noqa: E402
import statistics  # noqa: E402

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import pytorch_task as task  # noqa: E402
from pytorch_resnet import ResNet  # noqa: E402

# What the engine of proca does by default.
MOMENTUM, WEIGHT_DECAY = 0.9, 1e-6
LAMBDA, ETA, TEMPERATURE = 0.1, 1.0, 0.07
ALPHA, LABEL_SHIFT_TEMPERATURE = 0.15, 2.0
PROTOTYPES = 10
LABELS_EVERY, CENTRES_EVERY, CAPTURE_FIRST, CAPTURE_EVERY = 4, 5, 3, 7


class Phases:
    """Seconds by phase. The device is waited for where one ends, which is a few times per step."""

    def __init__(self, device):
        self.device, self.seconds = device, {}

    def wait(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    @contextlib.contextmanager
    def phase(self, name):
        self.wait()
        start = time.perf_counter()
        yield
        self.wait()
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


class Learner:
    """A network on its device, and how it computes there."""

    def __init__(self, network, args, device, mean, std):
        self.device, self.args = device, args
        self.channels_last = args.channels_last == "on"
        self.network = network.to(device)
        if self.channels_last:
            self.network = self.network.to(memory_format=torch.channels_last)
        self.training_network = torch.compile(self.network) if args.compile else self.network
        self.mean = (torch.tensor(mean, device=device) * 255).view(1, 3, 1, 1)
        self.scale = 1 / (torch.tensor(std, device=device) * 255).view(1, 3, 1, 1)

    def to_input(self, pixels):
        images = (pixels.permute(0, 3, 1, 2).float() - self.mean) * self.scale
        return images if self.channels_last else images.contiguous()

    def forward(self, pixels):
        bf16 = self.args.precision == "bf16"
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=bf16):
            return self.training_network(self.to_input(pixels))

    @torch.no_grad()
    def predict(self, pixels):
        """(features, probabilities) in evaluation mode, on the device."""
        self.network.eval()
        features, probabilities = [], []
        for batch in pixels.split(self.args.eval_batch_size):
            f, logits = self.network(self.to_input(batch))
            features.append(f)
            probabilities.append(logits.softmax(1))
        return torch.cat(features), torch.cat(probabilities)

    def optimizer(self):
        options = inspect.signature(torch.optim.SGD).parameters
        fast = {"fused": True} if self.device.type == "cuda" and "fused" in options else \
               {"foreach": True} if "foreach" in options else {}
        return torch.optim.SGD(self.network.parameters(), lr=self.args.lr, momentum=MOMENTUM,
                               weight_decay=WEIGHT_DECAY, **fast)


def detect(probabilities, prior, rule):
    """The classes that the target images show."""
    p = probabilities.double()
    if rule == "none":
        return torch.arange(p.shape[1], device=p.device)
    if rule == "scd":
        return (normalised_sums(p) >= ALPHA).nonzero().flatten()
    evidence, shares = p.pow(1 / LABEL_SHIFT_TEMPERATURE), prior.double()
    for _ in range(1000):
        weighted = evidence * torch.where(prior > 0, shares / prior, torch.zeros_like(shares))
        next_shares = (weighted / weighted.sum(1, keepdim=True)).mean(0)
        moved = (next_shares - shares).abs().max()
        shares = next_shares
        if moved <= 1e-6:
            break
    found = (shares > 1 / p.shape[1] + 1e-6).nonzero().flatten()
    return found if len(found) else shares.argmax().view(1)


def normalised_sums(probabilities):
    sums = probabilities.double().sum(0)
    spread = sums.max() - sums.min()
    return (sums - sums.min()) / spread if spread > 0 else torch.ones_like(sums)


def pseudo_labels(features, probabilities, classes):
    """Nearest centroid by cosine: soft centroids first, then those of the first answer."""
    weights = probabilities[:, classes]
    centroids = weights.t() @ features / (weights.sum(0).unsqueeze(1) + 1e-8)
    rows = F.normalize(features)
    first = (rows @ F.normalize(centroids).t()).argmax(1)
    members = F.one_hot(first, len(classes)).to(features.dtype)
    present = members.sum(0) > 0
    members, classes = members[:, present], classes[present]
    centroids = members.t() @ features / members.sum(0).unsqueeze(1)
    return classes[(rows @ F.normalize(centroids).t()).argmax(1)]


def herd(features, count):
    """Images whose mean is near that of all, one after the other; none twice while others are left."""
    mean, wanted = features.mean(0), features.mean(0)
    uses = torch.zeros(len(features), device=features.device)
    chosen = []
    for number in range(count):
        distances = (features - wanted).square().sum(1)
        distances = distances.masked_fill(uses > number // len(features), float("inf"))
        best = distances.argmin()
        chosen.append(best)
        uses[best] += 1
        wanted = wanted + mean - features[best]
    return torch.stack(chosen)


def class_means(features, labels, num_classes):
    members = F.one_hot(labels, num_classes).to(features.dtype)
    return members.t() @ features / members.sum(0).clamp_min(1).unsqueeze(1)


class Memory:
    """Prototypes by class."""

    def __init__(self):
        self.classes = {}  # label: (score, pixels, soft labels)

    def tensors(self, device):
        """(pixels, labels, soft labels) of all, or None."""
        if not self.classes:
            return None
        labels = [label for label in self.classes for _ in range(PROTOTYPES)]
        return (torch.cat([entry[1] for entry in self.classes.values()]),
                torch.tensor(labels, device=device),
                torch.cat([entry[2] for entry in self.classes.values()]))

    def capture(self, target, labels, classes, scores, features, probabilities, first):
        for label, score in zip(classes.tolist(), scores[classes].tolist()):
            if label in self.classes and (first or score < self.classes[label][0]):
                continue
            members = (labels == label).nonzero().flatten()
            if len(members):
                ids = members[herd(features[members], PROTOTYPES)]
                self.classes[label] = (score, target[ids], probabilities[ids])


def batches(count, size, device):
    """A shuffled pass; an image that would be alone joins the batch before."""
    parts = list(torch.randperm(count, device=device).split(size))
    if len(parts[-1]) == 1:
        last = parts.pop()
        parts = parts[:-1] + [torch.cat([parts[-1], last])] if parts else [last.repeat(2)]
    return parts


def replay_batches(count, size, num_iterations, device):
    """A shuffled pass over all, then the first batch of a new shuffle each time."""
    parts = list(torch.randperm(count, device=device).split(size))[:num_iterations]
    parts += [torch.randperm(count, device=device)[:size]
              for _ in range(num_iterations - len(parts))]
    return [part if len(part) > 1 else part.repeat(2) for part in parts]


def train_iteration(learner, optimizer, source, target, replay, centres):
    """One update; the losses stay on the device. Every argument is (pixels, labels[, soft])."""
    features, logits = learner.forward(source[0])
    loss = F.cross_entropy(logits, source[1])
    features, logits = learner.forward(target[0])
    loss = loss + F.cross_entropy(logits, target[1])
    if replay is not None:
        features, logits = learner.forward(replay[0])
        similarities = F.normalize(features) @ F.normalize(centres).t()
        loss = loss + LAMBDA * F.cross_entropy(similarities / TEMPERATURE, replay[1])
        loss = loss - ETA * (replay[2] * F.log_softmax(logits, 1)).sum(1).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def adapt_step(learner, frozen, source, target, memory, settings, phases):
    """One time step. `frozen` is what the source model says; returns trained images."""
    args, device, size = learner.args, learner.device, learner.args.batch_size
    pixels, source_labels, prior = source
    labels_frozen, centres = frozen
    with phases.phase("passes"):
        # Detection may ask the network as the step before left it.
        asked = labels_frozen if settings["detection-model"] == "source" else learner.predict(target)
        classes = detect(asked[1], prior, settings["detection"])
        scores = normalised_sums(asked[1])
        labels = pseudo_labels(*labels_frozen, classes)
    optimizer, captures, images, losses = learner.optimizer(), 0, 0, []
    for epoch in range(args.epochs):
        with phases.phase("passes"):
            if epoch > 0 and epoch % LABELS_EVERY == 0:
                labels = pseudo_labels(*learner.predict(target), classes)
            if epoch > 0 and epoch % CENTRES_EVERY == 0:
                centres = class_means(learner.predict(pixels)[0], source_labels, len(prior))
        with phases.phase("training"):
            learner.network.train()
            source_order = batches(len(pixels), size, device)
            target_order = batches(len(target), size, device)
            count = min(len(source_order), len(target_order))
            kept = memory.tensors(device)
            replay_order = replay_batches(len(kept[0]), size, count, device) if kept else [None] * count
            total = torch.zeros((), device=device)
            for s, t, r in zip(source_order, target_order, replay_order):
                replay = None if r is None else tuple(tensor[r] for tensor in kept)
                total += train_iteration(learner, optimizer, (pixels[s], source_labels[s]),
                                         (target[t], labels[t]), replay, centres)
                images += len(s) + len(t) + (0 if r is None else len(r))
            losses.append(total / count)
        last = epoch == args.epochs - 1
        if epoch == CAPTURE_FIRST or (epoch > 0 and epoch % CAPTURE_EVERY == 0) or \
                (last and captures == 0):
            with phases.phase("passes"):
                memory.capture(target, labels, classes, scores, *learner.predict(target),
                               captures == 0)
            captures += 1
    loss = losses[-1].item()
    if loss != loss:
        raise SystemExit("the loss is no longer a number")
    return images, classes.tolist()


def run_task(args, device):
    preset = task.read_preset(args.preset)
    settings = {"detection": "scd", "detection-model": "source",
                **task.settings_of(preset, args.source, args.target)}
    args.epochs = args.epochs or settings.get("epochs", 10)
    args.lr = args.lr or settings.get("lr", 1e-3)
    args.batch_size = args.batch_size or settings.get("batch-size", 32)
    if settings["detection"] not in ("scd", "label-shift", "none"):
        raise SystemExit(f"detection rule {settings['detection']} is not known here")
    model, weights = task.read_model(args.source_state)
    names, root = model["class_names"], args.data_root
    source_paths, source_labels = task.list_images(
        task.find_domain(preset, "sources", args.source, root), root, names)
    target_paths, target_labels = task.list_images(
        task.find_domain(preset, "targets", args.target, root), root, names)
    steps = task.step_classes(preset, args.source, args.target, names)
    wanted = {label for classes in steps for label in classes}
    keep = [i for i, label in enumerate(target_labels) if label in wanted]

    phases = Phases(device)
    phases.seconds["start"] = time.perf_counter() - STARTED
    start = time.perf_counter()  # Not `phase`, which would wake the GPU before the workers fork.
    decoded = task.decode(source_paths + [target_paths[i] for i in keep], model["preprocessing"],
                          args.workers)
    phases.seconds["decode"] = time.perf_counter() - start

    with phases.phase("upload"):
        decoded = decoded.to(device)
        pixels, target_pixels = decoded[:len(source_paths)], decoded[len(source_paths):]
        source_labels = torch.tensor(source_labels, device=device)
        target_labels = torch.tensor([target_labels[i] for i in keep], device=device)
        mean, std = model["preprocessing"]["mean"], model["preprocessing"]["std"]
        network = ResNet(model["backbone"], len(names), model["stride_in"])
        network.load_state_dict({name: tensor.float() if tensor.is_floating_point() else tensor
                                 for name, tensor in weights.items()})
        learner = Learner(network, args, device, mean, std)
        prior = torch.bincount(source_labels, minlength=len(names)).float() / len(source_labels)
    with phases.phase("frozen"):
        centres = class_means(learner.predict(pixels)[0], source_labels, len(names))
        features, probabilities = learner.predict(target_pixels)

    memory, images, records = Memory(), 0, []
    for number, classes in enumerate(steps, 1):
        of_step = torch.isin(target_labels, torch.tensor(classes, device=device)).nonzero().flatten()
        frozen = ((features[of_step], probabilities[of_step]), centres)
        trained, detected = adapt_step(learner, frozen, (pixels, source_labels, prior),
                                       target_pixels[of_step], memory, settings, phases)
        images += trained
        with phases.phase("evaluation"):
            seen = torch.tensor([y for part in steps[:number] for y in part], device=device)
            of_seen = torch.isin(target_labels, seen).nonzero().flatten()
            answers = learner.predict(target_pixels[of_seen])[1].argmax(1)
            accuracy = (answers == target_labels[of_seen]).double().mean().item() * 100
        records.append({"step": number, "images": len(of_step), "detected_classes": detected,
                        "accuracy_percent": accuracy})
    return {"final_accuracy_percent": records[-1]["accuracy_percent"], "steps": records,
            "images_per_s": images / phases.seconds["training"], "seconds": phases.seconds}


def bench_iteration(args, device):
    """Adaptation iterations of 3 x batch made-up images, as in `proca bench iteration`."""
    torch.manual_seed(0)
    args.batch_size = args.batch_size or 32
    size, side, num_classes = args.batch_size, args.image_size, args.batch_size
    args.lr = args.lr or 1e-3
    learner = Learner(ResNet(args.backbone, num_classes), args, device, [0.5] * 3, [0.25] * 3)
    learner.network.train()
    count = size * args.iterations
    groups = []
    for _ in range(3):
        pixels = torch.randint(256, (count, side, side, 3), dtype=torch.uint8).to(device)
        groups.append((pixels, torch.arange(count, device=device) % num_classes))
    soft = torch.full((count, num_classes), 1 / num_classes, device=device)
    centres = torch.randn(num_classes, learner.network.fc.in_features, device=device)
    optimizer, phases, rates = learner.optimizer(), Phases(device), []
    for repeat in range(args.warmup + args.repeats):
        orders = [batches(count, size, device) for _ in range(3)]
        phases.wait()
        start = time.perf_counter()
        for s, t, r in zip(*orders):
            train_iteration(learner, optimizer, tuple(x[s] for x in groups[0]),
                            tuple(x[t] for x in groups[1]),
                            tuple(x[r] for x in groups[2]) + (soft[r],), centres)
        phases.wait()
        if repeat >= args.warmup:
            rates.append(3 * count / (time.perf_counter() - start))
    return {"bench": "iteration", "backbone": args.backbone, "image_size": side,
            "batch_size": size, "images_per_s": statistics.median(rates),
            "images_per_s_min": min(rates), "images_per_s_max": max(rates), "repeats": len(rates)}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", help="TOML file of the benchmark")
    parser.add_argument("--data-root", help="folder that holds the domains")
    parser.add_argument("--source")
    parser.add_argument("--target")
    parser.add_argument("--source-state", help="state directory of the source model")
    parser.add_argument("--epochs", type=int, default=0, help="per step; 0: the preset's")
    parser.add_argument("--lr", type=float, default=0, help="0: the preset's")
    parser.add_argument("--batch-size", type=int, default=0, help="0: the preset's, else 32")
    parser.add_argument("--eval-batch-size", type=int, default=0, help="0: 256, on a CPU 32")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    parser.add_argument("--threads", type=int, default=0, help="0: all cores")
    parser.add_argument("--workers", type=int, default=0, help="that decode; 0: all cores")
    parser.add_argument("--precision", choices=["fp32", "tf32", "bf16"], default="tf32",
                        help="of products in training on a GPU; evaluation is never in bf16")
    parser.add_argument("--channels-last", choices=["on", "off"], default="on")
    parser.add_argument("--cudnn-benchmark", action="store_true",
                        help="let cuDNN try algorithms for every shape first")
    parser.add_argument("--compile", action="store_true", help="torch.compile the training")
    parser.add_argument("--bench-iteration", action="store_true",
                        help="time iterations on made-up images instead of a task")
    parser.add_argument("--backbone", default="resnet50", help="of --bench-iteration")
    parser.add_argument("--image-size", type=int, default=224, help="of --bench-iteration")
    parser.add_argument("--iterations", type=int, default=10, help="per repeat")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--warmup", type=int, default=2, help="repeats that do not count")
    args = parser.parse_args()
    needed = ["preset", "data_root", "source", "target", "source_state"]
    missing = [name for name in needed if not getattr(args, name)]
    if missing and not args.bench_iteration:
        parser.error("--" + missing[0].replace("_", "-") + " is missing")
    return args


def main():
    args = parse()
    # Nothing wakes the GPU before the images are decoded by forked workers.
    has_gpu = args.device != "cpu" and torch.cuda.device_count() > 0
    if args.device.startswith("cuda") and not has_gpu:
        raise SystemExit("there is no CUDA device")
    device = torch.device("cuda", 0) if has_gpu else torch.device("cpu")
    cores = len(os.sched_getaffinity(0))
    torch.set_num_threads(args.threads or cores)
    args.workers = args.workers or args.threads or cores
    args.eval_batch_size = args.eval_batch_size or (256 if has_gpu else 32)
    if not has_gpu:
        args.precision = "fp32"
    torch.backends.cuda.matmul.allow_tf32 = args.precision != "fp32"
    torch.backends.cudnn.allow_tf32 = args.precision != "fp32"
    torch.backends.cudnn.benchmark = args.cudnn_benchmark
    torch.manual_seed(args.seed)
    result = bench_iteration(args, device) if args.bench_iteration else run_task(args, device)
    result.update(program="pytorch", torch=torch.__version__, device=str(device),
                  device_name=torch.cuda.get_device_name(0) if has_gpu else "CPU",
                  threads=torch.get_num_threads(), precision=args.precision,
                  channels_last=args.channels_last, compiled=args.compile,
                  peak_memory_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
                  peak_device_memory_mb=torch.cuda.max_memory_reserved() / 1e6 if has_gpu else None,
                  total_s=time.perf_counter() - STARTED)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
