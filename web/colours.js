// Colour maps of src/report/colour.cpp: a field from dark blue to yellow, an error from black to light yellow.
const kMaps = {
  field: [[68, 1, 84], [72, 40, 120], [62, 73, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137], [53, 183, 121],
    [110, 206, 88], [181, 222, 43], [253, 231, 37]],
  error: [[0, 0, 4], [27, 12, 65], [74, 12, 107], [120, 28, 109], [165, 44, 96], [207, 68, 70], [237, 105, 37],
    [251, 155, 6], [247, 209, 61], [252, 255, 164]],
};
const kColours = 256;

// 256 colours as the 32-bit words of a canvas.
function colourTable(name) {
  const anchors = kMaps[name], words = new Uint32Array(kColours);
  for (let i = 0; i < kColours; ++i) {
    const at = i / (kColours - 1) * (anchors.length - 1), low = Math.min(Math.floor(at), anchors.length - 2);
    const mixed = [0, 1, 2].map((c) => Math.round((low + 1 - at) * anchors[low][c] + (at - low) * anchors[low
      + 1][c]));
    words[i] = 0xff000000 | mixed[2] << 16 | mixed[1] << 8 | mixed[0];
  }
  return words;
}
const kTables = { field: colourTable('field'), error: colourTable('error') };

function colourGradient(name) {
  return `linear-gradient(to top, ${kMaps[name].map((c) => `rgb(${c.join(',')})`).join(', ')})`;
}

// Few digits, as people write them.
function shortNumber(value) {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}
