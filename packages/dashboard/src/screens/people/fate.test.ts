import { expect, test } from 'vitest';
import type { RunOfUser, WhyRule } from '@beckon/contract/dashboard';
import { fateOf } from './fate.ts';

const AT = '2026-01-01T00:00:00.000Z';
const trigger = (more: Partial<WhyRule['triggers'][number]>): WhyRule['triggers'][number] => ({
  waits_for: 'x happens',
  last_seen_at: null,
  would_fire: false,
  reason: 'already_entered',
  sentence: 'the user was enrolled before',
  at: null,
  is_set: false,
  note: null,
  detail: {},
  would_pass_if: [],
  ...more,
});
const draft = (more: Partial<WhyRule['drafts'][number]>): WhyRule['drafts'][number] => ({
  id: 'd',
  subject: 'Hello',
  state: 'scheduled',
  deadline_at: null,
  ended_at: null,
  reason: null,
  rule_holds: true,
  send_check: null,
  ...more,
});
const rule = (more: Partial<WhyRule>): WhyRule => ({
  rule: { id: 'r', name: 'R' },
  on: true,
  would_fire: false,
  triggers: [trigger({})],
  decisions: [],
  drafts: [],
  ...more,
});

test('fateOf › returns one fate for each rule, the newest fact first', () => {
  const sent = draft({ state: 'sent', ended_at: AT });
  expect(fateOf(rule({ would_fire: true, drafts: [draft({}), sent] })).kind).toBe('waiting');
  expect(fateOf(rule({ would_fire: true, drafts: [sent] }))).toEqual({ kind: 'sent', at: AT });
  expect(fateOf(rule({ on: false, would_fire: true }))).toEqual({ kind: 'off' });
  expect(fateOf(rule({ would_fire: true, triggers: [trigger({ would_fire: true })] }))).toEqual({
    kind: 'eligible',
    at: null,
  });
  const timer = trigger({ would_fire: true, at: AT, is_set: true });
  expect(fateOf(rule({ would_fire: true, triggers: [trigger({}), timer] }))).toEqual({
    kind: 'eligible',
    at: AT,
  });
  expect(fateOf(rule({}))).toEqual({ kind: 'not_eligible', sentence: 'the user was enrolled before' });
});

test('fateOf › returns a draft that ended without being sent if the user is not eligible', () => {
  for (const state of ['failed', 'skipped', 'canceled', 'unknown']) {
    const ended = draft({ state, ended_at: AT, reason: 'bounced' });
    expect(fateOf(rule({ drafts: [ended] }))).toEqual({ kind: 'ended', draft: ended });
    expect(fateOf(rule({ drafts: [ended, draft({})] })).kind).toBe('waiting');
    expect(fateOf(rule({ would_fire: true, drafts: [ended] })).kind).toBe('eligible');
    expect(fateOf(rule({ on: false, drafts: [ended] })).kind).toBe('off');
  }
});

test('fateOf › returns a run that continues before its earlier email', () => {
  const run: RunOfUser = {
    id: 'n',
    rule: 'R',
    version: 1,
    state: 'active',
    waits_for: 'time',
    next_at: AT,
    enrolled_at: AT,
    ended_at: null,
    end_reason: null,
  };
  const explained = rule({ would_fire: true, drafts: [draft({ state: 'sent', ended_at: AT })] });
  expect(fateOf(explained, [run])).toEqual({ kind: 'running', run });
  expect(fateOf(explained, [{ ...run, state: 'ended' }]).kind).toBe('sent');
  expect(fateOf(explained, [{ ...run, rule: 'Other' }]).kind).toBe('sent');
  expect(fateOf(rule({ drafts: [draft({})] }), [run]).kind).toBe('waiting');
});
