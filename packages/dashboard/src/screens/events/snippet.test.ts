import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { curlOf, typedOf } from './snippet.ts';

const property = (name: string, ...types: string[]) => ({
  property: name,
  types,
  conflict: false,
  first_at: '',
  last_at: '',
});

test('typedOf › lists the received properties with types and an example', () => {
  const event = {
    name: 'paid',
    properties: [property('amount', 'number'), property('a b', 'string', 'null'), property('tags', 'array')],
    examples: [{ property: 'amount', values: [49.5, 1] }],
  };
  expect(typedOf(event)).toBe(`await beckon.track({
  external_user_id: user.id,
  name: "paid",
  properties: {
    amount: 49.5, // number
    "a b": "text", // string | null
    tags: [], // unknown[]
  },
});`);
  expect(typedOf({ ...event, properties: [] })).toContain('properties: {},');
});

test('curlOf › quotes any event name and value safely for the shell', () => {
  const hostile = `'; touch x; echo '$(id)\`id\``;
  const text = curlOf({
    name: hostile,
    properties: [property(hostile, 'string')],
    examples: [{ property: hostile, values: [hostile] }],
  });
  const body = text.slice(text.indexOf("-d '") + 3);
  const output = execFileSync('sh', ['-c', `printf '%s' ${body}`]).toString();
  expect(JSON.parse(output)).toEqual({
    external_user_id: '42',
    name: hostile,
    properties: { [hostile]: hostile },
  });
});
