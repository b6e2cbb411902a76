import { classifyText, type Stage } from '../../outcomes/index.ts';
import type { ReplyClass } from '../../../platform/mail/smtp-reply.ts';
import { enhancedStatus } from '../../../platform/mail/smtp-reply.ts';

/** The part of a report about one recipient. */
export type RecipientReport = {
  /** `Action` of a standard report, such as `failed`. */
  action: string | null;
  /** Its `Status`. */
  status: string | null;
  /** PowerMTA's own word for the reason, such as `bad-mailbox`. */
  category: string | null;
  /** The texts, the most trusted first. */
  texts: string[];
};

export type ReportClassification = {
  /** `delivered`: delivery succeeded. */
  class: ReplyClass | 'delivered';
  status: string | null;
  /** False while delivery is still being attempted, so that there is no outcome yet. */
  final: boolean;
};

const NO_FAILURE = new Set(['delivered', 'relayed', 'expanded']);

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

export function classifyReport({
  action,
  status: statusText,
  category,
  texts,
}: RecipientReport): ReportClassification {
  const statusCode = enhancedStatus(statusText ?? '');
  if (NO_FAILURE.has(action ?? '') || statusCode?.startsWith('2.'))
    return { class: 'delivered', status: statusCode, final: true };
  const status = statusAmong(texts, statusCode);
  const context = texts.join('\n');
  const found = classifyText({
    texts: texts.toSorted((a, b) => Number(isTranscript(b)) - Number(isTranscript(a))),
    status,
    replyCode: replyCodeIn(context),
    stage: stageOf(`${statusText}\n${context}`),
    category: BY_CATEGORY[category ?? ''] ?? null,
  });
  return { class: found, status, final: action !== 'delayed' };
}

/** The remote server's own words, copied from the SMTP session, which outrank the local server's interpretation. */
function isTranscript(text: string): boolean {
  return /^\s{0,8}<<< ?[45]\d\d/.test(text);
}

/** Returns a specific status, preferably one in the server's own words. */
function statusAmong(texts: string[], fallback: string | null): string | null {
  const quoted = texts.map(enhancedStatus).filter((found) => found !== null);
  return quoted.find((found) => !isVague(found)) ?? fallback ?? quoted[0] ?? null;
}

/** `5.0.0` and similar statuses report only the failure. */
function isVague(status: string): boolean {
  return /^[45]\.\d+\.0$/.test(status);
}

function replyCodeIn(text: string): number | null {
  const [, found] = /(?:^|[^\d.#])([45][0-5]\d)[ -](?!\d{3})/.exec(text) ?? [];
  return found === undefined ? null : Number(found);
}

/** Commands that were answered. The envelope copied into a report is not a command. */
const COMMAND = String.raw`(?:>>>|\bafter(?: pipelined)?|\bto|\bour|\bcommand:?|\bsmtp:)\s{0,3}\(?`;
const BEFORE = new RegExp(
  String.raw`\brefused to talk to me\b|\[(?:connect|greeting|helo|ehlo|mail_from)\]|\bbut (?:greeting failed|my name was rejected|sender was rejected)\b|\b(?:after|in reply to|response to|performing the) (?:initial connection|connect|connection|helo|ehlo|greeting|banner|end of greeting)\b|\brequested action aborted(?!: (?:local|exceeded))|${COMMAND}mail from\b`,
  'i',
);
const RECIPIENT = new RegExp(
  String.raw`${COMMAND}rcpt\b|\brcpt to command\b|\[rcpt_to\]|\bdoes(?: not|n't) like recipient\b|\bserver has rejected address\b|\(state 14\)|\bS2017062302\b`,
  'i',
);
const EMAIL = new RegExp(
  String.raw`\bdata\s+command\b|\bafter (?:pipelined )?(?:sending )?(?:end of )?data\b|\bfailed after i sent the message\b|\bsmtp transmission failure\b|>>> (?:data|\.)(?:\s|$)|\bcommand:? data\b|\bbdat\b`,
  'i',
);

const REFUSED_WITHIN_CHARS = 300;
const STAGES: Record<string, Stage> = {
  rcpt: 'rcpt',
  data: 'email',
  mail: 'before',
  helo: 'before',
  ehlo: 'before',
};

/** Returns the command before the first refusal in a copied SMTP session. */
function refusedCommand(text: string): string | undefined {
  const [, ...commands] = text.split('>>>');
  return commands
    .map((part) => /^ ?(\w+)(.*)/s.exec(part))
    .find((found) => /<<< ?[45]\d\d/.test(found?.[2]?.slice(0, REFUSED_WITHIN_CHARS) ?? ''))?.[1]
    ?.toLowerCase();
}

function stageOf(text: string): Stage | null {
  const stage = STAGES[refusedCommand(text) ?? ''];
  if (stage !== undefined) return stage;
  if (RECIPIENT.test(text)) return 'rcpt';
  if (EMAIL.test(text)) return 'email';
  return BEFORE.test(text) ? 'before' : null;
}
