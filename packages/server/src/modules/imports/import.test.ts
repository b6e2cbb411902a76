import { expect, test } from 'vitest';
import type { ImportState } from '@beckon/contract/dashboard';
import { hasEnded, type ImportAction, movedTo } from './import.ts';

const STATES: ImportState[] = [
  'uploading',
  'ready',
  'checking',
  'checked',
  'running',
  'paused',
  'done',
  'failed',
  'canceled',
];
const MOVES: ImportAction[] = [
  'upload',
  'complete',
  'map',
  'check',
  'conclude',
  'start',
  'pause',
  'resume',
  'rekey',
  'finish',
  'give_up',
  'fail',
  'cancel',
];

test('never moves an ended import, and can cancel all others', () => {
  for (const state of STATES)
    for (const move of MOVES)
      if (hasEnded(state)) expect([state, move, movedTo(state, move)]).toEqual([state, move, null]);
  for (const state of STATES)
    expect([state, movedTo(state, 'cancel')]).toEqual([state, hasEnded(state) ? null : 'canceled']);
});

test('runs only checked imports, by any sequence of moves', () => {
  const paths = STATES.flatMap((state) =>
    MOVES.flatMap((move) => (movedTo(state, move) === 'running' ? [`${state} ${move}`] : [])),
  );
  expect(paths).toEqual(['checked start', 'paused resume']);
  const toChecked = STATES.flatMap((state) =>
    MOVES.flatMap((move) => (movedTo(state, move) === 'checked' ? [`${state} ${move}`] : [])),
  );
  expect(toChecked).toEqual(['checking conclude']);
  const toPaused = STATES.filter((state) => MOVES.some((move) => movedTo(state, move) === 'paused'));
  expect(toPaused).toEqual(['running', 'paused']);
});
