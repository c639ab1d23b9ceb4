#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Proves that a device reached for nothing but what its layers may.

  join_dma_log.py DMA-LOG TRACE [--skip STEPS] [--cut]

DMA-LOG is what nvdla-device-server --dma-log wrote, TRACE any text with the
driver's trace events nvdla_layer_start (traced.sh). Units take layers in the
order in which these start, and a step of the device is one layer, or one
transfer of a BDMA layer. So the n-th step of a pipeline belongs to the n-th
layer that starts in it. Each access of the step must lie in what the layer's
proofs allow the same DMA client, in the same memory and direction.

--skip leaves out steps from before the trace was on, such as the copy with
which the driver confirms the device. Steps after its last layer are left out.

--cut is for devices that are reset, sleep or go away at work: a layer may have
started and done nothing, or less than all of it, and accesses that were refused
touched nothing. A step then belongs to the next layer that may do what it did.
"""
import argparse
import collections
import re
import sys

# In the order of enum nvdla_dma, as the log calls them.
CLIENTS = ('unknown cdma_data cdma_data_uv cdma_weight cdma_wgs cdma_wmb sdp_rdma sdp_brdma '
           'sdp_nrdma sdp_erdma sdp_wdma pdp_rdma pdp_wdma cdp_rdma cdp_wdma rbk_read rbk_write '
           'bdma_read bdma_write').split()
# By enum nvdla_layer_kind.
PIPELINES = [None, 'conv', 'conv', 'sdp', 'sdp', 'pdp', 'cdp', 'rbk', 'bdma']
# The pipeline of a step is that of the first of these that has a client in it.
PREFIXES = {'cdma': 'conv', 'sdp': 'sdp', 'pdp': 'pdp', 'cdp': 'cdp', 'rbk': 'rbk', 'bdma': 'bdma'}

EVENT = re.compile(r'nvdla_layer_start: dev=(\S+) program=(\d+) layer=(\d+) kind=(\d+) (\d+): '
                   r'dma=(\d+) ([RW]) (DRAM|SRAM) 0x([0-9a-f]+) (\d+)')


def read_layers(path):
    """Queues of (name, {(client, direction, memory): [(begin, end)]}) by pipeline."""
    queues = {name: collections.deque() for name in PREFIXES.values()}
    devices = set()
    with open(path, encoding='utf-8', errors='replace') as file:
        for line in file:
            event = EVENT.search(line)
            if not event:
                continue
            devices.add(event.group(1))
            program, layer, kind, index, dma = map(int, event.groups()[1:6])
            direction, memory, address, size = event.groups()[6:]
            queue = queues[PIPELINES[kind]]
            if index == 0 or CLIENTS[dma] == 'bdma_read':
                queue.append((f'program {program} layer {layer}', {}))
            begin = int(address, 16)
            areas = queue[-1][1].setdefault((CLIENTS[dma], direction, memory), [])
            areas.append((begin, begin + int(size)))
    if len(devices) > 1:
        sys.exit(f"{path}: events of several devices: {', '.join(sorted(devices))}")
    return queues


def read_steps(path):
    """Lists of (client, direction, memory, address, bytes, outcome, text), one for a step."""
    steps = {}
    with open(path, encoding='utf-8') as file:
        for line in file:
            if line.startswith('#'):
                continue
            _, step, client, direction, memory, address, size, outcome = line.split()
            steps.setdefault(int(step), []).append(
                (client, direction, memory, int(address, 16), int(size), outcome, line.strip()))
    return list(steps.items())


def pipeline_of(accesses):
    clients = {access[0] for access in accesses}
    for prefix, pipeline in PREFIXES.items():
        if any(client.startswith(prefix) for client in clients):
            return pipeline
    return None


def allowed(areas, address, size):
    """Whether the areas, which may touch, hold all of it."""
    end = address + size
    for begin, area_end in sorted(areas):
        if begin <= address < area_end:
            address = area_end
    return address >= end


def forbidden(accesses, areas, cut):
    """What a step did that a layer with these areas may not."""
    return [text for client, direction, memory, address, size, outcome, text in accesses
            if not (cut and outcome == 'refused') and
            (outcome != 'ok' or
             not allowed(areas.get((client, direction, memory), []), address, size))]


def take_layer(queue, accesses, cut):
    """Take the layer of a step off its queue: its name and what the step did beyond it.

    With `cut` that is the first layer that may do it all, if there is one.
    """
    skipped = 0
    while cut and skipped < len(queue) and forbidden(accesses, queue[skipped][1], cut):
        skipped += 1
    if skipped < len(queue):
        for _ in range(skipped):
            queue.popleft()
    name, areas = queue.popleft()
    return name, forbidden(accesses, areas, cut)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('log')
    parser.add_argument('trace')
    parser.add_argument('--skip', type=int, default=0)
    parser.add_argument('--cut', action='store_true')
    arguments = parser.parse_args()

    queues = read_layers(arguments.trace)
    layers = sum(map(len, queues.values()))
    complaints = []
    accesses_seen = 0
    for step, accesses in read_steps(arguments.log)[arguments.skip:]:
        if not any(queues.values()):
            break
        pipeline = pipeline_of(accesses)
        if not queues.get(pipeline):
            complaints.append(f'step {step}: no layer of {pipeline} has started: {accesses[0][-1]}')
            break
        accesses_seen += len(accesses)
        name, beyond = take_layer(queues[pipeline], accesses, arguments.cut)
        complaints += [f'{name} may not: {text}' for text in beyond]
    left = sum(map(len, queues.values()))
    if not complaints and left and not arguments.cut:
        complaints.append(f'{left} of {layers} layers started and the device did nothing for them')
    if not layers:
        complaints.append(f'no layer in {arguments.trace}')
    for complaint in complaints[:10]:
        print(f'join_dma_log.py: {complaint}', file=sys.stderr)
    if complaints:
        sys.exit(1)
    print(f'join_dma_log.py: {layers} layers, {accesses_seen} accesses, all of them allowed')


if __name__ == '__main__':
    main()
