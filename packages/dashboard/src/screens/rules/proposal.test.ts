import { expect, test } from 'vitest';
import { withProposal } from './proposal.ts';

test('withProposal › changes every email with the original text at any depth, and no other email', () => {
  const step = (body: string): object => ({ draft: { subject: 'Hi', body } });
  const document = {
    name: 'r',
    steps: [step('a'), { branch: { if: {} }, then: [step('a')], else: [step('b')] }, { draft: 'named' }],
  };
  const proposal = { template: null, part: 'body' as const, before: 'a', after: 'c', changes: 1 };
  expect(withProposal(document, proposal)).toEqual({
    name: 'r',
    steps: [step('c'), { branch: { if: {} }, then: [step('c')], else: [step('b')] }, { draft: 'named' }],
  });
});
