/** ACTORS names the parts of Beckon that change drafts. Its keys are the server's codes, up to a colon. */
const ACTORS: Record<string, string> = {
  engine: 'Beckon',
  model: 'AI drafting',
  operator: 'beckon-server',
  recipient: 'The recipient',
  reply: 'Reply of a mail server',
  import: 'Import',
  stripe: 'Stripe import',
  'local-shell': 'Local shell',
};

/** The name of a member or of a part of Beckon: `reply:ca9c5225825e108b` is "Reply of a mail server". */
export function actorWords(actor: string): string {
  const kind = actor.split(':', 1)[0] ?? actor;
  return Object.hasOwn(ACTORS, kind) ? (ACTORS[kind] ?? actor) : actor;
}
