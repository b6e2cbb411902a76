/** A word that Beckon does not use, and what to write instead. `unless` matches sentences in which the word is right. */
export type Term = { find: string; say: string; unless?: RegExp };

/**
 * The glossary, as regular expressions without regard to case. The terms on the right are the only names of these concepts, in
 * every layer. A word is listed here only if its other meanings are rare, because each false alarm costs a contributor's time.
 */
export const TERMS: readonly Term[] = [
  // Concepts
  {
    find: 'letters?',
    say: 'email',
    unless:
      /\b(?:dead|capital|upper-?case|lower-?case|small|single|first|last|drop(?:ped)?|block|cover|accented|\d+) letters?\b|dead-letter|letters?,? (?:and|or) (?:digits|numbers)|letters, (?:digits|numbers)|letters of the alphabet|letter-spacing|a-z/i,
  },
  { find: 'e-mails?', say: 'email' },
  { find: 'outbox(?:es)?', say: 'test inbox', unless: /transactional outbox/i },
  { find: 'tellers?', say: 'webhook dispatcher' },
  { find: 'ledgers?', say: 'decision log' },
  { find: 'rehears(?:e|es|ed|ing|als?)', say: 'backtest' },
  { find: 'verdicts?', say: 'classification' },
  { find: 'digest(?:ed|ing|ers?)', say: 'process, processing, processor' },
  { find: 'lanes?', say: 'priority (live or bulk) of the ingest queue' },
  {
    find: 'send turns?|turns? of (?:the|a|its|their) projects?|project.s turn',
    say: 'project lock, send lock',
  },
  { find: 'dut(?:y|ies)', say: 'scheduled job' },
  { find: 'timetables?', say: 'scheduler' },
  { find: 'bells?', say: 'wake-up' },
  { find: 'crash points?', say: 'failpoint' },
  { find: 'dies? alone', say: 'dead-lettered' },
  { find: 'seal(?:s|ed|ing)?', say: 'signed token; for secrets: encrypted' },
  { find: 'veil(?:s|ed)?', say: 'redacted' },
  { find: 're-?seal(?:s|ed|ing)?', say: 're-encrypt' },
  { find: 'ramps?', say: 'warm-up' },
  { find: 'leaves? by (?:itself|themselves)', say: 'autopilot: is sent automatically' },
  { find: 'sisters?', say: 'another module of the same layer' },
  {
    find: 'rooms?',
    say: 'module; for capacity: space',
    unless: /\b(?:chat|meeting) rooms?\b|running out of room/i,
  },
  { find: 'doors?', say: 'public API' },
  { find: 'floors?', say: 'layer' },
  { find: 'hops?', say: 'step, stage', unless: /hop-by-hop|hop count|prox(?:y|ies)|relay|Received/ },
  { find: 'houses?', say: 'name the thing', unless: /in-house/i },
  // Verbs and pronouns
  {
    find: 'who(?:so)?ever|nobody|somebody',
    say: 'the noun: a user, a member, an operator, a process; no user, no member',
  },
  { find: 'tell|tells|telling|told', say: 'report, notify, send' },
  { find: 'put off', say: 'postpone' },
  { find: 'put back', say: 'return, restore' },
  { find: 'lets? go|let go', say: 'skip, release' },
  { find: 'hand(?:s|ed|ing)? over', say: 'submit, pass' },
  { find: 'stands(?: for)?|as it stands', say: 'is', unless: /stands (?:in for|still)/ },
  { find: 'lies', say: 'is' },
  // Stiff or old words
  { find: 'anew', say: 'again' },
  { find: 'meanwhile', say: 'since then, in that time' },
  { find: 'beneath', say: 'below' },
  { find: 'whence|hither|thereof|whereupon', say: 'a plain connective' },
  { find: 'of which|of whom', say: 'a sentence of its own' },
  { find: '(?:is|are) none|none of ours', say: 'there is no …, is not a …' },
  { find: 'by itself alone|in the making', say: 'a plain phrase' },
  // American spelling
  {
    find: '(?:colour|behaviour|favour|honour|catalogue|organisation|centre|licence)(?:s|ed|ing|d)?',
    say: 'the American spelling',
  },
  {
    find: '(?:normal|recogn|author|serial|summar|initial|minim|optim|organ)is(?:e|es|ed|ing|ation)',
    say: 'the American spelling (-ize)',
  },
];

/** Names of others that contain a word of the list. */
export const NAMES: readonly string[] = ["Let's Encrypt", 'Let’s Encrypt'];
