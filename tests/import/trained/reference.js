// SPDX-License-Identifier: MIT
//
// Runs models with ONNX Runtime, in the folder that `npm install` filled:
//
//   node reference.js optimize MODEL OPTIMIZED
//   node reference.js run MODEL SIZES INPUTS LEVEL OUTPUT...
//   node reference.js ranges MODEL SIZES INPUTS RANGES.json
//
// INPUTS holds the elements of any number of inputs of SIZES (1x3x224x224) as floats of 32 bits.
// `run` writes the results of all of them to one OUTPUT for each output of the model; `ranges`
// writes the least and the greatest element of each output, over all inputs.
'use strict';
const fs = require('fs');
const path = require('path');
const ort = require(path.join(process.cwd(), 'node_modules', 'onnxruntime-node'));

// Threads add in another order, so that results would differ from machine to machine.
const kOptions = {intraOpNumThreads: 1, interOpNumThreads: 1, executionProviders: ['cpu']};

async function optimize(model, optimized) {
  await ort.InferenceSession.create(model, {
    ...kOptions,
    graphOptimizationLevel: 'basic',
    optimizedModelFilePath: optimized,
  });
}

async function forEachInput(model, sizes, inputs, level, visit) {
  const session = await ort.InferenceSession.create(
      model, {...kOptions, graphOptimizationLevel: level});
  const dims = sizes.split('x').map(Number);
  const count = dims.reduce((a, b) => a * b, 1);
  const bytes = fs.readFileSync(inputs);
  const all = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  for (let at = 0; at < all.length; at += count) {
    const input = new ort.Tensor('float32', all.slice(at, at + count), dims);
    visit(session.outputNames, await session.run({[session.inputNames[0]]: input}));
  }
}

async function run(model, sizes, inputs, level, ...outputs) {
  const files = outputs.map((name) => fs.openSync(name, 'w'));
  await forEachInput(model, sizes, inputs, level, (names, results) => {
    files.forEach((file, i) => {
      const {data} = results[names[i]];
      fs.writeSync(file, Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    });
  });
  files.forEach((file) => fs.closeSync(file));
}

async function ranges(model, sizes, inputs, path) {
  const found = {};
  await forEachInput(model, sizes, inputs, 'disabled', (names, results) => {
    for (const name of names) {
      const range = found[name] || (found[name] = [Infinity, -Infinity]);
      for (const value of results[name].data) {
        range[0] = Math.min(range[0], value);
        range[1] = Math.max(range[1], value);
      }
    }
  });
  fs.writeFileSync(path, JSON.stringify(found));
}

const [command, ...rest] = process.argv.slice(2);
({optimize, run, ranges})[command](...rest).catch((error) => {
  console.error(error);
  process.exit(1);
});
