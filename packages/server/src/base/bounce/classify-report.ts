import type { ReplyClass } from './classify-reply.ts';
import { normaliseReply } from './normalise-reply.ts';
import { enhancedStatus } from './reply.ts';
import { STRONG_RULES, WEAK_RULES, type Rule } from './report-phrases.ts';

/** What a report says of one recipient. */
export type Reported = {
  /** `Action` of a standard report, such as `failed`. */
  action: string | null;
  /** Its `Status`. */
  status: string | null;
  /** PowerMTA's own word for why, such as `bad-mailbox`. */
  category: string | null;
  /** What was said in words, the most trusted first. */
  said: string[];
};

/** `delivered`: it went through, or is still being tried; no outcome. */
export type ReportVerdict = { class: ReplyClass | 'delivered'; status: string | null };

const TEXT_CHARS_MAX = 1_500;
const NO_FAILURE = new Set(['delivered', 'delayed', 'relayed', 'expanded']);

const BY_CATEGORY: Record<string, ReplyClass> = {
  'bad-mailbox': 'hard',
  'bad-domain': 'hard',
  'inactive-mailbox': 'soft',
  'quota-issues': 'soft',
  'spam-related': 'policy',
  'policy-related': 'policy',
  'content-related': 'policy',
  'virus-related': 'policy',
  'invalid-sender': 'policy',
  'relaying-issues': 'policy',
  'bad-connection': 'infrastructure',
  'bad-configuration': 'infrastructure',
  'message-expired': 'infrastructure',
  'no-answer-from-host': 'infrastructure',
  'routing-errors': 'infrastructure',
};

/** The words first, then the status. A temporary status is never the end of an address, whatever the words. */
export function classifyReport(report: Reported): ReportVerdict {
  const own = enhancedStatus(report.status ?? '');
  if (NO_FAILURE.has(report.action ?? '') || own?.startsWith('2.'))
    return { class: 'delivered', status: own };
  const said = report.said.map(essence);
  const status = statusAmong(said, own);
  const texts = said.map((text) => normaliseReply(text, TEXT_CHARS_MAX));
  const context = [...report.said, ...texts].join(' ').toLowerCase();
  const sure = firstSaid(STRONG_RULES, texts) ?? ofCategory(report.category) ?? definite(status, context);
  const rule = sure ?? firstSaid(WEAK_RULES, texts) ?? ofStatus(status);
  return { class: rule.class === 'hard' ? tempered(rule.about, status, context) : rule.class, status };
}

/** One that says something, of the server's own words first. */
function statusAmong(said: string[], own: string | null): string | null {
  const quoted = said.map(enhancedStatus).filter((found) => found !== null);
  return quoted.find((found) => !isVague(found)) ?? own ?? quoted[0] ?? null;
}

type Found = Pick<Rule, 'class' | 'about'>;

function ofCategory(category: string | null): Found | null {
  const found = BY_CATEGORY[category ?? ''];
  return found === undefined ? null : { class: found };
}

function firstSaid(rules: readonly Rule[], texts: string[]): Rule | undefined {
  for (const text of texts) {
    const rule = rules.find(({ phrase }) => phrase.test(text));
    if (rule) return rule;
  }
  return undefined;
}

const QUOTES_SERVER =
  /- (?:unknown address error|other mail system problem) \d{3}-|(?:error|response|message) (?:that the other server returned|from the (?:remote|other) (?:server|host)) ?was: ?|\bthe response was: ?|(?:remote host|server) said: ?/i;

/** `RESOLVER.ADR.RecipNotFound`, which is no host. */
const EXCHANGE_NAME = /\b[A-Z]{4,}(?:\.[A-Za-z]{2,}){1,4}\b/g;

/** What a server said, where a sender tells of it in words of its own, which are about every refusal. */
function essence(text: string): string {
  const found = QUOTES_SERVER.exec(text);
  const rest = found ? text.slice(found.index + found[0].length) : '';
  return (rest.trim() === '' ? text : rest).replace(EXCHANGE_NAME, (name) => name.replaceAll('.', ' '));
}

/** `5.0.0` and the like say only that it failed. */
function isVague(status: string): boolean {
  return /^[45]\.0\.0$|^[45]\.\d+\.0$/.test(status);
}

const ABOUT_SENDER =
  /\bsender was rejected\b|\[mail_from\]|\bgreeting failed\b|\brefused to talk to me\b|\bafter (?:helo|ehlo|initial connection)\b|(?:>>>|\bafter(?: pipelined)?|\bto|\bcommand:?) mail from\b|\b(?:domain of )?sender(?:'s)? (?:address|domain)\b/;
/** A command that was answered; the envelope, copied into the report, is none. */
const ABOUT_RECIPIENT =
  /(?:>>>|\bafter(?: pipelined)?|\bto|\bour|\bcommand:?|\bsmtp:)\s{0,3}\(?rcpt\b|\brcpt to command\b|\[rcpt_to\]|\bdoes(?: not|n't) like recipient\b|\(state 14\)|\bS2017062302\b/i;
/** What filters copy: an answer with a code, to a command that the report does not name. */
const ANSWERED = /(?:^|[^\d.])55[0-4][ -].{0,200}\b(?:user unknown|unknown user|no such user)\b/s;
const ABOUT_LETTER =
  /\bdata\s+command\b|\bafter (?:pipelined )?(?:sending )?(?:end of )?data\b|>>> (?:data|\.)(?:\s|$)|\bcommand:? data\b|\bbdat\b/;
const REACHED = /\bremote host said\b|\bhost \S+(?: \S+)? said\b|\bsmtp error from remote\b|\bin reply to\b/;
/** Which no filter says. */
const DEFINITE = /\b(?:doesn't|does not|don't) have an? (?:\S+ ){0,3}account\b/;

/**
 * A false `hard` silences somebody for good, so that words for an unknown address are believed only where no other sign is
 * against them: a status of a mailbox that exists or of security, a refusal of the sender, or one that came after the letter
 * itself was seen, where filters of the recipient say them too.
 */
function tempered(about: 'host' | undefined, status: string | null, text: string): ReplyClass {
  const code = status ?? '';
  if (ABOUT_SENDER.test(text)) return 'policy';
  if (/^4\.[34]\./.test(code)) return 'infrastructure';
  if (code.startsWith('4.')) return 'soft';
  // Who was reached does not say of its own domain that it is nowhere, but of ours.
  if (about === 'host') return REACHED.test(text) && !/^5\.(?:1|4)\./.test(code) ? 'policy' : 'hard';
  return isDoubtful(code, text) ? 'soft' : 'hard';
}

function isDoubtful(code: string, text: string): boolean {
  const toRecipient = ABOUT_RECIPIENT.test(text);
  if (/^5\.[27]\./.test(code) && !toRecipient) return true;
  if (/^5\.(?:1\.|4\.4)/.test(code) || DEFINITE.test(text)) return false;
  return ABOUT_LETTER.test(text) || (ANSWERED.test(text) && !toRecipient);
}

/** Those that are given for one reason alone. */
function definite(status: string | null, text: string): Found | null {
  const code = status ?? '';
  // How Symantec's gateway says that it knows no such recipient.
  if (/^5\.(?:1\.(?:1|2|3|6|10)|4\.4)$/.test(code) || /\b542 \S+ rejected\b/.test(text))
    return { class: 'hard' };
  if (/^[45]\.2\.2$/.test(code)) return { class: 'soft' };
  return /^[45]\.(?:2\.3|3\.4|1\.[78]|6\.\d+|7\.\d+)$/.test(code) ? { class: 'policy' } : null;
}

function ofStatus(status: string | null): Found {
  const code = status ?? '';
  if (/^5\.1\.[09]$/.test(code)) return { class: 'hard' };
  return { class: /^[45]\.2\.|^4\.1\./.test(code) ? 'soft' : 'infrastructure' };
}
