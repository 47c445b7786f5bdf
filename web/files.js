// Files that the page reads and writes: .npy (float32), .vtu for ParaView, PNG.

function npyBytes(shape, values) {
  const list = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  let head = `{'descr': '<f4', 'fortran_order': False, 'shape': (${list}), }`;
  head = head.padEnd(head.length + 63 - (10 + head.length) % 64) + '\n';
  const bytes = new Uint8Array(10 + head.length + 4 * values.length);
  bytes.set([0x93, 78, 85, 77, 80, 89, 1, 0, head.length & 255, head.length >> 8]);
  for (let i = 0; i < head.length; ++i) bytes[10 + i] = head.charCodeAt(i);
  bytes.set(new Uint8Array(values.buffer, values.byteOffset, 4 * values.length), 10 + head.length);
  return bytes;
}

const kNpyTypes = { '<f4': [4, 'getFloat32'], '<f8': [8, 'getFloat64'], '<i4': [4, 'getInt32'], '<i2': [2, 'getInt16'],
  '<u2': [2, 'getUint16'], '<u4': [4, 'getUint32'], '|u1': [1, 'getUint8'], '|b1': [1, 'getUint8'],
  '|i1': [1, 'getInt8'] };

// {shape, values}; fails with a sentence.
function parseNpy(buffer) {
  const bytes = new Uint8Array(buffer), view = new DataView(buffer);
  const fail = (expected) => { throw new Error(`reading the .npy file: expected ${expected}, found something else`); };
  if (bytes.length < 12 || bytes[0] !== 0x93 || String.fromCharCode(...bytes.slice(1, 6)) !== 'NUMPY')
    fail('a NumPy array file');
  const wide = bytes[6] > 1, start = wide ? 12 : 10, length = wide ? view.getUint32(8, true) : view.getUint16(8, true);
  if (start + length > bytes.length) fail('a whole header');
  const head = new TextDecoder('latin1').decode(bytes.subarray(start, start + length));
  const type = /'descr':\s*'([^']*)'/.exec(head), shapeText = /'shape':\s*\(([^)]*)\)/.exec(head);
  if (!type || !shapeText || !(type[1] in kNpyTypes)) fail('little-endian real numbers');
  if (/'fortran_order':\s*True/.test(head)) fail('C order (numpy.ascontiguousarray)');
  const shape = shapeText[1].split(',').map((s) => s.trim()).filter(Boolean).map(Number);
  const count = shape.reduce((a, b) => a * b, 1), [size, read] = kNpyTypes[type[1]];
  if (!(count >= 0) || count * size !== bytes.length - start - length) fail(`${count} numbers behind the header`);
  const values = new Float32Array(count);
  for (let i = 0; i < count; ++i) values[i] = view[read](start + length + i * size, true);
  return { shape, values };
}

function escapeXml(text) {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

// Points [x, y (, z)], cells of three or four corners, named fields of one number per point.
function vtuText(points, dims, cells, corners, fields) {
  const n = points.length / dims, xyz = [];
  for (let i = 0; i < n; ++i) xyz.push([0, 1, 2].map((a) => (a < dims ? points[i * dims + a] : 0)).join(' '));
  const count = cells.length / corners, kind = corners === 4 ? 9 : 5;
  const list = (make) => Array.from({ length: count }, (_, c) => make(c)).join(' ');
  const array = (type, name, text, more = '') =>
    `<DataArray type="${type}" Name="${escapeXml(name)}" format="ascii"${more}>${text}</DataArray>`;
  return `<?xml version="1.0"?>
<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian">
<UnstructuredGrid><Piece NumberOfPoints="${n}" NumberOfCells="${count}">
<PointData>${fields.map((f) => array('Float32', f.name, Array.from(f.values).join(' '))).join('\n')}</PointData>
<Points>${array('Float32', 'points', xyz.join(' '), ' NumberOfComponents="3"')}</Points>
<Cells>${array('Int64', 'connectivity', Array.from(cells).join(' '))}
${array('Int64', 'offsets', list((c) => (c + 1) * corners))}
${array('UInt8', 'types', list(() => kind))}</Cells>
</Piece></UnstructuredGrid></VTKFile>
`;
}

function saveFile(name, content, type) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function fromBase64(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
  return bytes;
}
