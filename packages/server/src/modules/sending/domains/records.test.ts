import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DnsReply } from '../../../platform/dns/resolver.ts';
import { type DkimKey, generateKey, selectorOf } from './dkim-key.ts';
import { assessRecord, type DnsLookup, pendingQueries, recordsOf } from './records.ts';
import { lookUp } from './check-domain.ts';
import type { RecordKind, DomainRecord } from './findings.ts';

const mail = { mailDomain: 'in.beckon.test', spfInclude: 'spf.relay.test' };
const domain = { id: '01900000-0000-7000-8000-00000000000a', name: 'mail.acme.test' };
const { publicKey } = await generateKey();
const other = (await generateKey()).publicKey;
const key: DkimKey = {
  projectId: 1,
  domainId: domain.id,
  slot: 'a',
  state: 'pending',
  publicKey,
  createdAt: 0,
  changedAt: 0,
};
const records = recordsOf(domain, [key], mail);
const recordOf = (kind: RecordKind): DomainRecord => {
  const found = records.find((record) => record.kind === kind);
  if (!found) throw new Error(`no ${kind}`);
  return found;
};

type Zone = Record<string, string[] | 'failed'>;
const replyIn = (zone: Zone, type: string, name: string): DnsReply => {
  const values = zone[`${type} ${name}`];
  if (values === 'failed') return { kind: 'failed', code: 'ESERVFAIL' };
  return values ? { kind: 'found', values } : { kind: 'none', code: 'ENOTFOUND' };
};
const lookupIn =
  (zone: Zone): DnsLookup =>
  (type, name) =>
    replyIn(zone, type, name);
const findingOf = (kind: RecordKind, zone: Zone) => assessRecord(recordOf(kind), lookupIn(zone));

const DKIM = `TXT ${recordOf('dkim').name}`;
const SPF = 'TXT bounce.mail.acme.test';
const MX = 'MX bounce.mail.acme.test';

test('lists the records to publish, with the required ones marked', () => {
  expect(records.map(({ kind, type, name, value, required }) => [kind, type, name, value, required])).toEqual(
    [
      [
        'dkim',
        'TXT',
        `${selectorOf(domain.id, 'a')}._domainkey.mail.acme.test`,
        `v=DKIM1; k=rsa; p=${publicKey}`,
        true,
      ],
      ['return_path_mx', 'MX', 'bounce.mail.acme.test', '10 in.beckon.test', true],
      ['return_path_spf', 'TXT', 'bounce.mail.acme.test', 'v=spf1 include:spf.relay.test ~all', false],
      ['dmarc', 'TXT', '_dmarc.mail.acme.test', 'v=DMARC1; p=none', true],
    ],
  );
  const { split, value } = recordOf('dkim');
  expect(split?.join('')).toBe(value);
  expect(split?.map((part) => part.length)).toEqual([255, value.length - 255]);
  expect(selectorOf(domain.id, 'b')).toMatch(/^bk[a-z2-7]{8}b$/);
});

test('leaves out records that depend on an unknown setting', () => {
  const without = recordsOf(domain, [key], { mailDomain: null, spfInclude: null });
  expect(without.map(({ kind }) => kind)).toEqual(['dkim', 'dmarc']);
  // Without a bounce host, the envelope sender is at the domain itself.
  const spf = recordsOf(domain, [key], { mailDomain: null, spfInclude: 'spf.relay.test' })[1];
  expect(spf).toMatchObject({ kind: 'return_path_spf', name: 'mail.acme.test' });
});

test('accepts the records when they are published as shown', () => {
  const zone: Zone = Object.fromEntries(records.map(({ type, name, value }) => [`${type} ${name}`, [value]]));
  expect(records.map((record) => assessRecord(record, lookupIn(zone)).verdict)).toEqual([
    'ok',
    'ok',
    'ok',
    'ok',
  ]);
});

const p = `p=${publicKey}`;
const spaced = publicKey.replaceAll(/(.{20})/g, '$1 \t');

test.each<[string, string[], string, RegExp]>([
  ['other tags and order', [`v=DKIM1;${p};k=rsa;n=note;t=s;s=email;h=sha1:sha256;`], 'ok', /correct/],
  ['no version', [`k=rsa; ${p}`], 'ok', /correct/],
  ['space in the key', [`v = DKIM1 ; k = rsa ; p = ${spaced}`], 'ok', /correct/],
  ['a test flag', [`v=DKIM1; t=s:y; ${p}`], 'ok', /test/],
  ['none', [], 'missing', /No record/],
  ['another key', [`v=DKIM1; p=${other}`], 'wrong', /another key/],
  ['half a key', [`v=DKIM1; p=${publicKey.slice(0, 200)}`], 'wrong', /part of the key/],
  ['no base64', ['v=DKIM1; p=%%%%'], 'wrong', /another key/],
  ['revoked', ['v=DKIM1; k=rsa; p='], 'wrong', /revokes/],
  ['no key', ['v=DKIM1; k=rsa'], 'wrong', /p= is missing/],
  ['two records', [`v=DKIM1; ${p}`, `v=DKIM1; p=${other}`], 'wrong', /2 records/],
  ['twice the same', [`v=DKIM1; ${p}`, `v=DKIM1; ${p}`], 'wrong', /2 records/],
  ['quotes', [`"v=DKIM1; ${p}"`], 'wrong', /quotes/],
  ['backslashes', [`v=DKIM1\\; k=rsa\\; ${p}`], 'wrong', /backslashes/],
  ['the version behind', [`k=rsa; v=DKIM1; ${p}`], 'wrong', /begins with/],
  ['another version', [`v=DKIM2; ${p}`], 'wrong', /begins with/],
  ['another kind of key', [`v=DKIM1; k=ed25519; ${p}`], 'wrong', /must be rsa/],
  ['only sha1', [`v=DKIM1; h=sha1; ${p}`], 'wrong', /sha256/],
  ['not for mail', [`v=DKIM1; s=tlsrpt; ${p}`], 'wrong', /excludes email/],
  ['a tag twice', [`v=DKIM1; ${p}; p=${other}`], 'wrong', /not a DKIM record/],
  ['no tags', ['hello'], 'wrong', /not a DKIM record/],
])('judges a DKIM record: %s', (...[, values, expected, says]) => {
  const finding = findingOf('dkim', values.length > 0 ? { [DKIM]: values } : {});
  expect(finding).toMatchObject({ verdict: expected, says: expect.stringMatching(says) });
  expect(finding.found).toEqual(values.map((value) => value.slice(0, 600)));
});

test('accepts a DKIM record that has the key, in any order of tags and with any spaces', () => {
  const space = fc.constantFrom('', ' ', '\t', '  ');
  const tags = fc.shuffledSubarray(['k=rsa', 'n=x', 's=*', 't=s', 'h=sha256'], { minLength: 0 });
  fc.assert(
    fc.property(tags, space, fc.nat(publicKey.length), (extraTags, gap, cut) => {
      const split = `p=${publicKey.slice(0, cut)}${gap}${publicKey.slice(cut)}`;
      const value = ['v=DKIM1', ...extraTags, split]
        .map((tag) => tag.replace('=', `${gap}=${gap}`))
        .join(`${gap};${gap}`);
      expect(findingOf('dkim', { [DKIM]: [value] }).verdict).toBe('ok');
    }),
  );
});

test('never accepts arbitrary text as one of the records', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 80 }), { maxLength: 3 }), (values) => {
      const zone: Zone = { [DKIM]: values, [SPF]: values, [MX]: values };
      for (const kind of ['dkim', 'return_path_spf', 'return_path_mx'] as const)
        expect(findingOf(kind, zone).verdict).not.toBe('ok');
    }),
  );
});

test.each<[string, string[], string, RegExp]>([
  ['our host', ['10 in.beckon.test'], 'ok', /correct/],
  ['in capitals, with a dot', ['99 IN.Beckon.test.'], 'ok', /correct/],
  ['none', [], 'missing', /No MX/],
  ['another host', ['10 in.beckon.test.acme.test'], 'wrong', /another host/],
  ['one more', ['10 in.beckon.test', '20 mx.acme.test'], 'wrong', /Keep only/],
])('judges the return path: %s', (...[, values, expected, says]) => {
  const finding = findingOf('return_path_mx', values.length > 0 ? { [MX]: values } : {});
  expect(finding).toMatchObject({ verdict: expected, says: expect.stringMatching(says) });
});

const DMARC = 'TXT _dmarc.mail.acme.test';
const ABOVE = 'TXT _dmarc.acme.test';

test.each<[string, Zone, string, RegExp, boolean]>([
  ['its own', { [DMARC]: ['v=DMARC1; p=reject'] }, 'ok', /reject/, false],
  [
    'with more tags',
    { [DMARC]: ['v=DMARC1;p=quarantine;pct=100;rua=mailto:a@b.c;x'] },
    'ok',
    /quarantine/,
    false,
  ],
  ['p=none', { [DMARC]: ['v=DMARC1; p=None'] }, 'ok', /p=none/, true],
  ['strict', { [DMARC]: ['v=DMARC1; p=reject; adkim=s'] }, 'ok', /adkim=s/, false],
  ['among others', { [DMARC]: ['hello', 'v=DMARC1; p=reject'] }, 'ok', /reject/, false],
  ["the organization's", { [ABOVE]: ['v=DMARC1; p=reject'] }, 'ok', /reject/, false],
  ["the organization's for names below", { [ABOVE]: ['v=DMARC1; p=reject; sp=none'] }, 'ok', /p=none/, true],
  [
    'its own before that',
    { [DMARC]: ['v=DMARC1; p=none; sp=reject'], [ABOVE]: ['v=DMARC1; p=reject'] },
    'ok',
    /none/,
    true,
  ],
  [
    'its own, broken, before that',
    { [DMARC]: ['v=DMARC1'], [ABOVE]: ['v=DMARC1; p=reject'] },
    'wrong',
    /p=/,
    false,
  ],
  [
    'something else, and above it',
    { [DMARC]: ['x'], [ABOVE]: ['v=DMARC1; p=reject'] },
    'ok',
    /reject/,
    false,
  ],
  ['none', {}, 'missing', /No DMARC/, false],
  ['another p', { [DMARC]: ['v=DMARC1; p=maybe'] }, 'wrong', /p=/, false],
  ['two', { [DMARC]: ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] }, 'wrong', /2 DMARC/, false],
  ['the version behind', { [DMARC]: ['p=none; v=DMARC1'] }, 'wrong', /begins with/, false],
  ['quotes', { [DMARC]: ['"v=DMARC1; p=none"'] }, 'wrong', /quotes/, false],
  ['trouble above', { [ABOVE]: 'failed' }, 'unknown', /ESERVFAIL/, false],
  [
    'trouble, and one above',
    { [DMARC]: 'failed', [ABOVE]: ['v=DMARC1; p=reject'] },
    'unknown',
    /ESERVFAIL/,
    false,
  ],
  [
    'trouble above one of its own',
    { [DMARC]: ['v=DMARC1; p=reject'], [ABOVE]: 'failed' },
    'ok',
    /reject/,
    false,
  ],
])('judges DMARC: %s', (...[, zone, expected, says, warns]) => {
  expect(findingOf('dmarc', zone)).toMatchObject({
    verdict: expected,
    warns,
    says: expect.stringMatching(says),
  });
});

const many = Array.from({ length: 11 }, (_, n) => `a:h${n}.test`).join(' ');

test.each<[string, Zone, string, RegExp]>([
  ['as shown', { [SPF]: ['v=spf1 include:spf.relay.test ~all'] }, 'ok', /correct/],
  [
    'in capitals, beside others',
    { [SPF]: ['x', 'V=SPF1 ip4:192.0.2.1 +INCLUDE:Spf.Relay.test. -ALL'] },
    'ok',
    /correct/,
  ],
  ['none', { [SPF]: ['hello'] }, 'missing', /No SPF/],
  ['two', { [SPF]: ['v=spf1 include:spf.relay.test ~all', 'v=spf1 -all'] }, 'wrong', /2 SPF/],
  ['without the relay', { [SPF]: ['v=spf1 mx -all'] }, 'wrong', /does not include the relay/],
  ['behind all', { [SPF]: ['v=spf1 -all include:spf.relay.test'] }, 'wrong', /does not include the relay/],
  [
    'the name within another',
    { [SPF]: ['v=spf1 include:xspf.relay.test -all'], 'TXT xspf.relay.test': ['v=spf1 -all'] },
    'wrong',
    /does not include/,
  ],
  [
    'the text in an explanation',
    { [SPF]: ['v=spf1 exp=include:spf.relay.test -all'] },
    'wrong',
    /does not include/,
  ],
  ['refusing the relay', { [SPF]: ['v=spf1 -include:spf.relay.test ~all'] }, 'wrong', /rejects/],
  [
    'a word that SPF does not know',
    { [SPF]: ['v=spf1 includes:x include:spf.relay.test ~all'] },
    'wrong',
    /has no term/,
  ],
  [
    'through another',
    { [SPF]: ['v=spf1 include:all.test -all'], 'TXT all.test': ['v=spf1 include:spf.relay.test -all'] },
    'ok',
    /correct/,
  ],
  [
    'by a redirect',
    { [SPF]: ['v=spf1 redirect=all.test'], 'TXT all.test': ['v=spf1 include:spf.relay.test -all'] },
    'ok',
    /correct/,
  ],
  [
    'a redirect that is never followed',
    { [SPF]: ['v=spf1 redirect=spf.relay.test -all'] },
    'wrong',
    /does not include/,
  ],
  [
    'behind one that has none',
    { [SPF]: ['v=spf1 include:no.test include:spf.relay.test -all'] },
    'wrong',
    /no\.test/,
  ],
  ['too many look-ups', { [SPF]: [`v=spf1 ${many} include:spf.relay.test -all`] }, 'wrong', /more than 10/],
  ['a circle', { [SPF]: ['v=spf1 include:bounce.mail.acme.test -all'] }, 'wrong', /more than 10/],
  ['failed', { [SPF]: 'failed' }, 'unknown', /ESERVFAIL/],
  [
    'trouble further on',
    { [SPF]: ['v=spf1 include:all.test -all'], 'TXT all.test': 'failed' },
    'unknown',
    /ESERVFAIL/,
  ],
])('judges SPF: %s', (...[, zone, expected, says]) => {
  expect(findingOf('return_path_spf', zone)).toMatchObject({
    verdict: expected,
    says: expect.stringMatching(says),
  });
});

test('looks for a missing record at the names under which zone editors put it', () => {
  const twice = `${recordOf('dkim').name}.acme.test`;
  expect(findingOf('dkim', { [`TXT ${twice}`]: ['v=DKIM1'] }).says).toContain(`at ${twice}`);
  const alias = { [`CNAME ${recordOf('dkim').name}`]: ['old.provider.test'] };
  expect(findingOf('dkim', alias).says).toContain('CNAME to old.provider.test');
});

test('finishes its lookups for any content of a zone', async () => {
  const hosts = ['bounce.mail.acme.test', 'a.test', 'b.test', 'c.test'];
  const term = fc.oneof(
    fc.constantFrom('mx', 'a', '-all', '?all', 'include:', 'nonsense'),
    fc.constantFrom(...hosts, 'spf.relay.test').map((host) => `include:${host}`),
    fc.constantFrom(...hosts).map((host) => `redirect=${host}`),
  );
  const record = fc.array(term, { maxLength: 6 }).map((terms) => ['v=spf1', ...terms].join(' '));
  const zones = fc.dictionary(
    fc.constantFrom(...hosts.map((host) => `TXT ${host}`)),
    fc.array(record, { maxLength: 2 }),
  );
  await fc.assert(
    fc.asyncProperty(zones, async (zone) => {
      let lookups = 0;
      const lookUpIn = (type: string) => async (name: string) => {
        lookups += 1;
        return replyIn(zone, type, name);
      };
      const lookup = await lookUp(
        { txt: lookUpIn('TXT'), mx: lookUpIn('MX'), cname: lookUpIn('CNAME') },
        records,
      );
      expect(lookups).toBeLessThan(30);
      expect(pendingQueries(records, lookup)).toEqual([]);
    }),
  );
});
