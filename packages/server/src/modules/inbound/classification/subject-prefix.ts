/** The prefixes of replies and of forwarded emails in the mail programs of many languages. */
const ANSWERED =
  're|aw|antw|antwort|sv|vs|rif|r|odp|rv|res|ref|ynt|ats|回复|回覆|答复|返信|回信|답장|رد|الرد|השב|תגובה';
const FORWARDED =
  'fwd?|wg|wtrlt|weitergeleitet|tr|transf|rv|reenv|enc|i|inoltra|vs|vb|vl|pd|ilt|İlt|doorst|tov|πρθ|пересл|转发|轉寄|転送|전달|إعادة توجيه|توجيه|העבר|הועבר';
const MARK = String.raw` ?(?:\[\d{1,3}\] ?)?[:：] ?`;
const MARKS_MAX = 20;

const OF_ANSWER = new RegExp(String.raw`^(?:(?:${ANSWERED}|${FORWARDED})${MARK}){1,${MARKS_MAX}}`, 'iu');
const OF_FORWARD = new RegExp(
  String.raw`^(?:(?:${ANSWERED})${MARK}){0,5}(?:(?:${FORWARDED})${MARK}|\[fwd: ?)`,
  'iu',
);

/** Direction marks in Arabic and Hebrew subjects, and French spaces in front of a colon. */
const INVISIBLE = /[\u200b-\u200f\u202a-\u202e\u2066-\u2069]/g;

export function plainSubject(subject: string): string {
  return subject.normalize().replace(INVISIBLE, '').replace(/\s+/g, ' ').trim();
}

/** Returns a subject without its prefixes, so that the subject of a reply equals that of the email. */
export function subjectWithoutMarks(subject: string): string {
  return plainSubject(subject).replace(OF_ANSWER, '').trim();
}

/** Returns the title of the forwarded email, or null for any other subject. */
export function forwardedTitle(subject: string): string | null {
  const plain = plainSubject(subject);
  const [prefix] = OF_FORWARD.exec(plain) ?? [];
  return prefix === undefined ? null : subjectWithoutMarks(plain.slice(prefix.length));
}
