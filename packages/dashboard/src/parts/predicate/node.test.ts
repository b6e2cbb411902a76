import { MantineProvider } from '@mantine/core';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { ConditionNode } from './node.tsx';

const facts = { traits: [], events: [], audiences: [] };

function shown(value: object, field: string): string {
  const around = { facts, faults: [{ field, message: 'Choose a trait' }], isReadOnly: false };
  const props = { value, onChange: () => undefined, path: 'only_if', around, depth: 0 };
  return renderToStaticMarkup(createElement(MantineProvider, null, createElement(ConditionNode, props)));
}

const condition = { trait: '', equals: 'pro' };

test.each([
  ['in a condition', condition, 'only_if.trait'],
  ['in a negated condition', { not: condition }, 'only_if.not.trait'],
  ['in a negated group', { not: { all: [condition] } }, 'only_if.not.all.0.trait'],
  ['of a negated condition as a whole', { not: condition }, 'only_if'],
])('ConditionNode › shows the error %s once', (_, value, field) => {
  expect(shown(value, field).split('Choose a trait')).toHaveLength(2);
});
