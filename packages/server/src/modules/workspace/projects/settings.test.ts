import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDuration, printDuration } from '../../../platform/time/time-text.ts';
import { normaliseSetting, readSettings, SETTING_NAMES, type SettingName } from './settings.ts';

const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));
const duration = (maxMs: number) =>
  fc
    .tuple(fc.integer({ min: 1, max: 100_000 }), fc.constantFrom('s', 'm', 'h', 'd'))
    .map(([count, unit]) => `${count}${unit}`)
    .filter((text) => (parseDuration(text) ?? Infinity) <= maxMs);
const DAY_MS = 86_400_000;
const keeping = (daysMin: number) =>
  duration(36_500 * DAY_MS).filter((text) => (parseDuration(text) ?? 0) >= daysMin * DAY_MS);

/** Arbitrary texts that people may type, for every setting. */
const typed: Record<SettingName, fc.Arbitrary<string>> = {
  quiet_hours: fc.oneof(
    fc.constant('off'),
    fc
      .tuple(time, time)
      .filter(([a, b]) => a !== b)
      .map((pair) => pair.join('-')),
  ),
  frequency_cap: fc.oneof(
    fc.constant('off'),
    fc
      .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 9_999 }), duration(90 * DAY_MS)), {
        minLength: 1,
        maxLength: 5,
        selector: ([, window]) => parseDuration(window),
      })
      .map((caps) => caps.map((cap) => cap.join('/')).join(',')),
  ),
  throttle: fc.oneof(
    fc.constant('off'),
    fc
      .tuple(fc.integer({ min: 1, max: 999_999 }), fc.constantFrom('s', 'm', 'h'))
      .map((rate) => rate.join('/')),
  ),
  autopilot: fc.oneof(fc.constant('draft'), duration(30 * DAY_MS)),
  sandbox: fc.constantFrom('on', 'off'),
  drafting: fc.constantFrom('template', 'model'),
  time_zone: fc.constantFrom('UTC', 'Europe/Paris', 'asia/kolkata', 'America/Argentina/Ushuaia', 'Etc/GMT+5'),
  language: fc.constantFrom('en', 'de_DE', 'pt-br', 'zh-Hans-CN'),
  paused: fc.constantFrom('true', 'false'),
  keep_events: fc.oneof(fc.constant('forever'), keeping(31)),
  keep_stream: fc.oneof(fc.constant('forever'), keeping(1)),
  keep_dead: fc.oneof(fc.constant('forever'), keeping(1)),
  keep_emails: fc.oneof(fc.constant('forever'), keeping(7)),
  from_name: fc.constantFrom('none', 'Acme', ' Acme, Inc. "West" ', 'Ünï 😀'),
  from_address: fc.constantFrom('none', 'hello@acme.example', "O'Neil+x@Mail.Acme.example"),
  reply_to: fc.constantFrom('none', 'help@acme.example'),
  postal_address: fc.constantFrom('none', 'Acme, 1 High Street, Springfield'),
  footer: fc.constantFrom('none', 'Acme GmbH, Amtsgericht Springfield'),
  reply_forward_to: fc.constantFrom('none', 'help@acme.example'),
  reply_plus_addressing: fc.constantFrom('on', 'off'),
  topics: fc.constantFrom('none', 'news:News', 'news: Product news , tips:Tips & tricks: all of them'),
  tracking: fc.constantFrom('off', 'opens', 'clicks', 'opens,clicks', 'clicks,opens'),
  team_addresses: fc.constantFrom('none', 'a@acme.example', 'a@acme.example, b@acme.example,a@acme.example'),
};

test('parses the printed form of every setting to the same value', () => {
  for (const name of SETTING_NAMES) {
    fc.assert(
      fc.property(typed[name], (text) => {
        const normal = normaliseSetting(name, text);
        if (!('text' in normal)) throw new Error(`${name}=${text} was refused`);
        expect(readSettings({ [name]: normal.text })).toEqual(readSettings({ [name]: text }));
        expect(normaliseSetting(name, normal.text)).toEqual(normal);
      }),
    );
  }
});

test('never throws for any text, and explains the syntax of a rejected one', () => {
  for (const name of SETTING_NAMES)
    fc.assert(
      fc.property(fc.string(), (text) => {
        const normal = normaliseSetting(name, text);
        if ('syntax' in normal) expect(normal.syntax).not.toBe('');
        else expect(normaliseSetting(name, normal.text)).toEqual(normal);
      }),
    );
});

test('returns the defaults for a project without settings', () => {
  expect(readSettings({})).toEqual({
    quietHours: { start: '21:00', end: '08:00' },
    isQuietHoursSet: false,
    frequencyCap: [
      { emails: 1, windowMs: DAY_MS },
      { emails: 3, windowMs: 7 * DAY_MS },
    ],
    throttle: { emails: 10, perMs: 1_000 },
    autopilotMs: 7_200_000,
    sandbox: false,
    drafting: 'template',
    timeZone: 'UTC',
    language: 'en',
    paused: false,
    keepEventsMs: null,
    keepStreamMs: 90 * DAY_MS,
    keepDeadMs: null,
    keepEmailsMs: 90 * DAY_MS,
    sender: { fromName: null, fromAddress: null, replyTo: null, postalAddress: null, footer: null },
    replyForwardTo: null,
    replyPlusAddressing: false,
    topics: [],
    tracking: { opens: true, clicks: true },
    teamAddresses: [],
  });
  expect(normaliseSetting('frequency_cap', '1/24h,3/7d')).toEqual({ text: '1/24h,3/7d' });
  expect(normaliseSetting('time_zone', 'europe/paris')).toEqual({ text: 'Europe/Paris' });
  expect(normaliseSetting('language', 'pt_br')).toEqual({ text: 'pt-BR' });
});

test('rejects nearly valid texts', () => {
  const wrong: [SettingName, string][] = [
    ['quiet_hours', '21:00-21:00'],
    ['quiet_hours', '21:00-24:00'],
    ['quiet_hours', '9:00-17:00'],
    ['frequency_cap', '0/24h'],
    ['frequency_cap', '1/24h,2/1d'],
    ['frequency_cap', '1/91d'],
    ['frequency_cap', '1/24h,'],
    ['frequency_cap', '1/1h,1/2h,1/3h,1/4h,1/5h,1/6h'],
    ['throttle', '10'],
    ['throttle', '0/s'],
    ['throttle', '10/d'],
    ['autopilot', '0s'],
    ['autopilot', '31d'],
    ['autopilot', '2'],
    ['time_zone', '+01:00'],
    ['language', 'xx'],
    ['language', 'German'],
    ['language', ''],
    ['topics', 'news'],
    ['topics', 'News:News'],
    ['topics', 'news:News,news:Others'],
    ['topics', 'news: '],
    ['tracking', ''],
    ['tracking', 'opens,opens'],
    ['tracking', 'all'],
    ['reply_forward_to', 'no address'],
    ['reply_plus_addressing', 'true'],
    ['time_zone', 'Europe/Atlantis'],
    ['time_zone', ''],
    ['paused', 'yes'],
    ['paused', 'TRUE'],
    ['keep_events', '30d'],
    ['keep_events', '0d'],
    ['keep_events', 'never'],
    ['keep_events', '36501d'],
    ['keep_stream', '23h'],
    ['keep_dead', '1'],
    ['keep_emails', '6d'],
    ['from_name', ''],
    ['from_name', 'Acme\r\nBcc: eve@evil.example'],
    ['from_name', 'Ac\u2028me'],
    ['from_name', 'x'.repeat(101)],
    ['from_address', 'Acme <hello@acme.example>'],
    ['from_address', 'a@acme.example,b@acme.example'],
    ['reply_to', 'no address'],
    ['postal_address', 'x'.repeat(301)],
    ['team_addresses', 'a@acme.example,'],
    ['team_addresses', Array.from({ length: 21 }, (_, i) => `a${i}@acme.example`).join(',')],
  ];
  for (const [name, text] of wrong)
    expect([name, text, normaliseSetting(name, text)]).toEqual([
      name,
      text,
      { syntax: expect.any(String) as string },
    ]);
});

test('parses the printed form of a duration to the same value', () => {
  fc.assert(
    fc.property(duration(Infinity), (text) => {
      const ms = parseDuration(text) ?? 0;
      expect(parseDuration(printDuration(ms))).toBe(ms);
    }),
  );
  expect(['90s', '15m', '2h', '7d', '24h'].map((text) => printDuration(parseDuration(text) ?? 0))).toEqual([
    '90s',
    '15m',
    '2h',
    '7d',
    '24h',
  ]);
});
