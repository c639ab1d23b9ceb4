// SPDX-License-Identifier: MIT
//
// Writes a layers model of TensorFlow.js whose files are wrapped in JavaScript, as nsfwjs has them,
// as MODEL.json and MODEL.bin: node layers_model.js FOLDER MODEL
'use strict';
const fs = require('fs');
const path = require('path');

const [folder, to] = process.argv.slice(2);
const load = (name) => {
  const loaded = require(path.resolve(folder, `${name}.min.js`));
  return loaded.default || loaded;
};
const model = load('model');
const paths = model.weightsManifest.flatMap((group) => group.paths);
const shards = paths.map((name) => load(name));
fs.writeFileSync(`${to}.json`, JSON.stringify(model));
fs.writeFileSync(`${to}.bin`, Buffer.concat(shards.map((shard) => Buffer.from(shard, 'base64'))));
