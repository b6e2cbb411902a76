/** What mail servers say in words, to be asked of a reply whose addresses, hosts and ids are gone (`normaliseReply`). */

const any = (...phrases: string[]): RegExp => new RegExp(phrases.join('|'));

/** The mailbox is there and cannot take the letter now. */
export const SAYS_FULL = any(
  String.raw`\b(?:over|exceed\w*|out of|above|insufficient) (?:(?:the|its|their|his|her|allowed|storage|mailbox|disk|message) ){0,3}(?:quota|storage|limit|disk|space|size)`,
  String.raw`\bquota\b.{0,40}\b(?:exceed|full|reach|over)`,
  String.raw`\b(?:mailbox|inbox|mail box|account|user'?s? mailbox|folder)\b.{0,30}\b(?:is )?(?:full|over ?quota)`,
  String.raw`\b(?:mailbox|disk) (?:size|space)? ?(?:limit|quota) (?:was |has been )?(?:exceeded|reached)`,
  String.raw`\bover ?quota\b|\bmailfull\b|\bmailbox ?full\b`,
  String.raw`\bnot enough (?:storage|disk|space)`,
);

/** Nothing about the recipient: the sender, the way or the letter is not wanted. */
export const SAYS_UNWANTED = any(
  String.raw`\b(?:spam|spammer|spamming|junk|bulk|unsolicited|phish\w*|malware|virus|infected)\b`,
  String.raw`\b(?:block ?list\w*|black ?list\w*|blocked|blocking|block list|deny ?list\w*|dnsbl|rbl|reputation|banned)\b`,
  String.raw`\b(?:spf|dkim|dmarc|authentication results?|unauthenticated|not authenticated|sender (?:id|policy)|ptr|reverse dns|rdns)\b`,
  String.raw`\b(?:policy|policies|prohibited|not authori[sz]ed|unauthori[sz]ed|permission|administrative(?:ly)?|security (?:reasons?|problem))\b`,
  String.raw`\b(?:grey ?list\w*|gray ?list\w*)\b`,
  String.raw`\b(?:rate ?limit\w*|throttl\w*|too many|too fast|too quickly|at a rate|unusual rate|(?:sending|hourly|daily) limit)\b`,
  String.raw`\b(?:content|attachment|message) (?:was |is |has been |are )?(?:rejected|refused|not accept\w*|denied|filtered)`,
  String.raw`\b(?:too (?:large|big)|exceeds? (?:the )?(?:fixed )?(?:maximum )?(?:message )?size|message size)\b`,
  String.raw`\bsender (?:address )?(?:is )?(?:rejected|refused|denied|not)`,
);

/** The address leads nowhere, and will not tomorrow. */
export const SAYS_UNKNOWN = any(
  String.raw`\b(?:unknown|invalid|no such|non-?existent|inexistent|bad|undeliverable|unrecogni[sz]ed|not a valid) (?:(?:local|virtual|destination|e-?mail|mail|address|recipient'?s?|user'?s?|relay) ){0,2}(?:user|users|recipient|recipients|mailbox|address|addressee|account|person|alias|name|domain|here)\b`,
  String.raw`\b(?:user|recipient|mailbox|address|account|alias|addressee|person|domain|host or domain name)\b(?: \S+){0,6} (?:is )?(?:unknown|not found|not known|does ?n[o']t exist|doesn't exist|do not exist|not exist|no longer (?:valid|exists?|active|available|in use)|isn't valid|not valid|invalid|not listed|nonexistent|non-existent|could not be found|cannot be found|has been (?:disabled|deactivated|closed|deleted|suspended)|(?:is )?(?:disabled|inactive|deactivated|suspended|closed|discontinued|expired))\b`,
  String.raw`\b(?:does not|doesn't|do not|don't) have (?:an?|any|such an?) (?:\S+ ){0,2}(?:account|mailbox|user)\b`,
  String.raw`\bno (?:mailbox|account|user|recipient)s? (?:here|by that name|with that name|found|of that name)\b`,
  String.raw`\bnot? (?:our|a local) (?:customer|user|address)\b|\buser ?unknown\b|\bnosuchuser\b|\bunrouteable address\b`,
  String.raw`\b(?:no such domain|domain (?:name )?not found|null ?mx|does not accept (?:any )?(?:e-?)?mail|account (?:is )?disabled)\b`,
);

/** The relay does not serve us: its account, its settings or ours are wrong. */
export const SAYS_NO_RELAYING = any(
  String.raw`\brelay(?:ing)? (?:access )?(?:denied|not (?:permitted|allowed)|is denied|prohibited)`,
  String.raw`\b(?:unable|not permitted|not allowed|cannot|refus\w+) to relay\b|\bwe do not relay\b`,
  String.raw`\b(?:smtp )?authentication (?:is )?required\b|\bmust (?:first )?(?:authenticate|be authenticated)\b|\bsend auth\b`,
);

/** The relay or the server behind it asks for less. */
export const SAYS_TOO_FAST = any(
  String.raw`\b(?:rate ?limit\w*|throttl\w*|too many (?:connections|messages|e-?mails|mails|sessions|recipients)|too fast|unusual rate)\b`,
  String.raw`\b(?:sending|hourly|daily|connection) (?:rate |rate-)?(?:limit|quota)\b|\bmaximum sending rate\b|\bslow down\b`,
);
