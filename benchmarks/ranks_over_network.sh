#!/usr/bin/env bash
# Several ranks, each on a "machine" of its own: network namespaces joined by a bridge.
# Trains the same source model with 1, 2 and 4 of them, one thread each, the same batch in
# all, and prints images per second and how far the models are apart.
#
#   benchmarks/ranks_over_network.sh PROGRAM [FOLDER] [RANKS...]      (default: a new folder, 1 2 4)
#
# Takes root (ip netns) and iproute2. BACKBONE, SIZE, BATCH, EPOCHS, RATE (of each link, such as
# 1gbit; none for as fast as it goes) change what is done.
set -euo pipefail

program=$(realpath "$1")
folder=${2:-$(mktemp -d)}
shift $(($# > 2 ? 2 : $#))
counts=("$@")
if [ ${#counts[@]} -eq 0 ]; then counts=(1 2 4); fi
backbone=${BACKBONE:-resnet18} size=${SIZE:-64} batch=${BATCH:-64} epochs=${EPOCHS:-3} rate=${RATE:-}
bridge=proca-br
most=$(printf '%s\n' "${counts[@]}" | sort -n | tail -1)

name() { echo "proca-rank-$1"; }

clean() {
  for ((i = 0; i < most; ++i)); do ip netns del "$(name "$i")" 2>/dev/null || true; done
  ip link del "$bridge" 2>/dev/null || true
}
trap clean EXIT
clean

ip link add "$bridge" type bridge
ip link set "$bridge" up
for ((i = 0; i < most; ++i)); do
  ip netns add "$(name "$i")"
  ip link add "proca-v$i" type veth peer name eth0 netns "$(name "$i")"
  ip link set "proca-v$i" master "$bridge" up
  ip netns exec "$(name "$i")" ip addr add "10.77.0.$((i + 1))/24" dev eth0
  ip netns exec "$(name "$i")" ip link set eth0 up
  ip netns exec "$(name "$i")" ip link set lo up
  if [ -n "$rate" ]; then
    ip netns exec "$(name "$i")" tc qdisc add dev eth0 root tbf rate "$rate" burst 256k latency 50ms
  fi
done

mkdir -p "$folder"
[ -d "$folder/data" ] || "$program" data make-demo --out "$folder/data" --quiet
source=$(find "$folder/data" -mindepth 1 -maxdepth 1 -type d | sort | head -1)

for count in "${counts[@]}"; do
  out=$folder/ranks-$count
  rm -rf "$out"
  ids=()
  for ((i = 0; i < count; ++i)); do
    ip netns exec "$(name "$i")" env RANK="$i" WORLD_SIZE="$count" LOCAL_RANK=0 \
      MASTER_ADDR=10.77.0.1 MASTER_PORT=29555 \
      "$program" pretrain --source "$source" --out "$out" --backbone "$backbone" \
      --image-size "$size" --batch-size "$batch" --epochs "$epochs" --threads 1 --quiet &
    ids+=($!)
  done
  for id in "${ids[@]}"; do wait "$id"; done
done

python3 - "$folder" "${counts[@]}" <<'P'
import json, pathlib, struct, sys

folder, counts = pathlib.Path(sys.argv[1]), sys.argv[2:]

def rate(count):
    lines = (folder / f"ranks-{count}" / "events.jsonl").read_text().splitlines()
    rates = [event["images_per_s"] for event in map(json.loads, lines) if event["event"] == "epoch"]
    return sorted(rates[1:] or rates)[len(rates[1:] or rates) // 2]  # the first one warms up

def weights(count):
    content = (folder / f"ranks-{count}" / "model.safetensors").read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + size])
    header.pop("__metadata__", None)
    for name, entry in sorted(header.items()):
        if entry["dtype"] != "F32":
            continue
        begin, end = entry["data_offsets"]
        yield from struct.unpack(f"<{(end - begin) // 4}f", content[8 + size + begin:8 + size + end])

first, reference = rate(counts[0]), list(weights(counts[0]))
print("ranks  images/s  times  efficiency  largest difference of a weight")
for count in counts:
    gain = rate(count) / first * int(counts[0])
    difference = max(abs(a - b) for a, b in zip(reference, weights(count)))
    print(f"{count:>5}  {rate(count):8.1f}  {gain:5.2f}  {gain / int(count):9.0%}   {difference:.1e}")
P
