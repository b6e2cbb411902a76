import type { EmailHtml } from './page.ts';
import type { ReadMail } from './read-mail.ts';
import type { DkimResult } from './verify-dkim.ts';

export type CheckStatus = 'ok' | 'warning' | 'error';

/** One check of an email. `message` says what is wrong and what to do. `detail` lists the places, one per line. */
export type EmailCheck = { name: CheckName; status: CheckStatus; message: string; detail?: string[] };

export type CheckName =
  | 'mime'
  | 'size'
  | 'headers'
  | 'dkim'
  | 'subject'
  | 'preheader'
  | 'tone'
  | 'placeholders'
  | 'text'
  | 'text_links'
  | 'links'
  | 'unsubscribe'
  | 'images'
  | 'html'
  | 'contrast';

/** An email with everything that is checked. An email to the team needs no unsubscribe link and no domain of the project. */
export type CheckedEmail = {
  mail: ReadMail;
  page: EmailHtml;
  kind: 'user' | 'team';
  dkim: DkimResult;
  /** When it arrived, in milliseconds. */
  at: number;
};

export type CheckFinding = { status: CheckStatus; message: string; detail?: string[] };

const DETAILS_MAX = 20;
const DETAIL_MAX_CHARS = 200;

/** Returns a check with its findings, worst first, or a passed check without findings. */
export function checkResult(name: CheckName, findings: CheckFinding[], well: string): EmailCheck {
  const ordered = findings.toSorted((a, b) => WEIGHT[b.status] - WEIGHT[a.status]);
  const [worst] = ordered;
  if (!worst) return { name, status: 'ok', message: well };
  const message = ordered.map((finding) => finding.message).join(' ');
  const lines = ordered.flatMap((finding) => finding.detail ?? []);
  if (lines.length === 0) return { name, status: worst.status, message };
  const detail = lines.slice(0, DETAILS_MAX).map((line) => excerpt(line, DETAIL_MAX_CHARS));
  if (lines.length > DETAILS_MAX) detail.push(`and ${lines.length - DETAILS_MAX} more`);
  return { name, status: worst.status, message, detail };
}

/** Returns one finding with all of its occurrences, or no finding without occurrences. */
export function findingsOf(status: CheckStatus, message: string, detail: string[]): CheckFinding[] {
  return detail.length === 0 ? [] : [{ status, message, detail }];
}

export function excerpt(text: string, charsMax: number): string {
  const line = text
    .slice(0, charsMax * 4)
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return line.length > charsMax ? `${line.slice(0, charsMax - 1)}…` : line;
}

const WEIGHT: Record<CheckStatus, number> = { ok: 0, warning: 1, error: 2 };
