import { any, WHO, words } from './phrase.ts';

/** The plainest words for an unknown recipient. They precede the rules about spam, which look at the whole text. */
export const SAYS_NOBODY = any(
  String.raw`\b(?:user|mail ?box|recipient|account) (?:is |was )?(?:not found|unknown|does not exist|doesn't exist|not exists?)\b(?! (?:or|for|in the sender))`,
  String.raw`\b(?:no such|unknown|invalid|nonexistent) (?:local )?(?:user|mail ?box|recipient)\b(?!s)|\bno mail ?box here by that name\b|\baccount or domain may not exist\b|\bno valid recipients for this\b`,
);

/** An address that is no longer in use. An inactive account or mailbox may come back; an inactive address does not. */
export const SAYS_ABANDONED = any(
  String.raw`\brecipient (?:is )?no longer on (?:this |the |our )?server\b|\b(?<!temporarily |currently )inactive (?:e-?mail|mail|recipient) address\b|\bnot an? active (?:e-?mail )?address\b`,
  String.raw`\b(?:e-?mail|mail|recipient) address(?: (?!temporarily\b|currently\b)[^\s.;]+){0,4}? (?:inactive|not active|no longer active)\b`,
);

/** Unknown, invalid, not in a directory, moved away: verbs and nouns in either order. */
export const SAYS_UNKNOWN = any(
  String.raw`\b(?!no (?:valid )?recipients\b)(?:no|not an?|unknown|unknow|invalid|illegal|incorrect|undefined|unrecogni[sz]ed|bad|wrong|non-?exist\w*|inexistent|undeliverable|unroute?able|unresolvable) (?:such )?(?:(?:local|virtual|destination|e-?mail|mail|known|valid|registered|final delivery|relay|smtp|rcpt|unix|system|or \w+) ){0,3}${WHO}\b`,
  String.raw`\bno such (?:\S+ ){0,2}(?:${WHO}|local|object|entry|here)\b|\bnosuch(?:user|recipient)\b|\brecip\w*notfound\b`,
  String.raw`\b${WHO}\b(?:'s|s)?,?${words(8)} (?:unknown|unknow|invalid|not (?:be )?(?:found|located|known|recogni[sz]ed|registered|valid|listed|available here|exists?|existing)|couldn'?t be found|wasn'?t found|isn'?t (?:valid|listed|known)|no longer (?:exists?|valid|available|in use|here|on)|non-?existent|not present|does ?n[o']t exist|doesn't exist|do(?:es)? not exist|not in (?:\S+ ){0,3}(?:list|directory|database))\b`,
  String.raw`\b(?:(?:could|can|did|does|do)(?: ?n['o]t|n't| not)|cannot|unable to|failed to) (?:find|locate|resolve|recogni[sz]e|identify|match) (?:\S+ ){0,4}${WHO}\b`,
  String.raw`\b(?:does not|doesn't|do not|don't|did not) (?:have|handle|know|recogni[sz]e) (?:\S+ ){0,4}(?:${WHO}|here)\b`,
  String.raw`\bno (?!valid recipients)(?:\S+ )?(?:${WHO}|one|home|match\w*) (?:\S+ ){0,3}(?:here|by that|with (?:that|this)|of that|found|in (?:the )?(?:\S+ )?(?:directory|name))`,
  String.raw`\b(?:not|no) (?:found |listed |present |known )?in (?:\S+ ){0,4}(?:directory|address book|user list|user database|validrcptto\w*)\b|\bnot listed in\b`,
  String.raw`\bno[tn] (?:our|a local|a known|a valid|a registered|my) (?:\S+ )?(?:customer|user|address|recipient|mail ?box|account)\b|\bunknown here\b`,
  String.raw`\bthis (?:address|user|mail ?box|account|recipient) (?:no longer (?:accepts|exists|receives)|does not|doesn't)\b|\bno longer (?:on (?:this )?server|works? (?:here|for|at)|employed|with (?:us|the company))\b`,
  String.raw`\b(?:user|recipient|account|address) (?:is |has been |was )?(?:deleted|removed|retired|discontinued permanently)\b|\b(?:closed|deleted|removed) (?:account|mail ?box|user)\b`,
  String.raw`\bno ?(?:one|body) at this\b|\bbad_?rcpt_?to\b|\b(?:user|account) missing home directory\b|\bnot known at this\b|\bunavailable (?:mail )?user\b|\bnot (?:an? )?user of this\b|\bdon'?t exists?\b|\bnot an? (?:\w+ ){0,2}(?:mail ?box|user|recipient) (?:here|on)\b`,
);

/** The recipient moved to another address. */
export const SAYS_MOVED = any(
  String.raw`\b(?:user|recipient|account|mail ?box|address|person|customer) (?:has |have )?(?:moved|changed|left)\b|\bhas (?:moved|changed (?:his|her|their|its)|left) (?:to|the|address\w*)\b|\buser not local\b|\bnew (?:e-?mail )?address is\b|\bnot our (?:user|customer)\b`,
);

/** The name servers of the domain did not answer properly. */
export const SAYS_NO_ANSWER_OF_DNS = any(
  String.raw`\b(?:name ?server|name service|dns|resolver|lookup)\b.{0,80}\b(?:malformed|unexpected|servfail|server failure|try again|timed? ?out|timeout|time-out|refused|temporar\w+|did not complete)\b`,
  String.raw`\b(?:host|domain) ?name lookup (?:failure|failed)\b|\btemporary (?:failure in name|dns|name server|lookup)\b|\bdns query failed\b|\bmalformed (?:or unexpected )?name server\b`,
);

/** The domain does not exist, or accepts no mail. */
export const SAYS_NO_HOST = any(
  String.raw`\b(?:host or domain|domain|hostname|host name|host address|destination (?:host|server|system)|mail server|e-?mail system)\b(?: (?:name|the|recipient|host|of|in|for|to)){0,4}(?: [^\s.;:]+){0,2} (?:unknown|not found|does ?n.t exist|does not exist|non-?existent|invalid|(?:could|can)(?:not| ?n.t| not) be (?:found|resolved|located)|(?:was|were) not found|unresolvable|not known|does not resolve)\b`,
  String.raw`\bhost (?:is )?(?:unknown|(?:was )?not found|does not exist|doesn't exist|could not be found|cannot be found)\b|\b(?:host|domain)unknown\b|\bhost names? (?:was|were) not found`,
  String.raw`\b(?:unknown|no such|invalid|illegal|non-?existent|nonexistent|unroute?able|unresolvable|bad destination) (?:mail |recipient |host or |destination )?(?:host|domain|hostname|system|site)\b|\bnxdomain\b`,
  String.raw`\b(?:couldn'?t|could not|cannot|can'?t|unable to) (?:find|resolve|locate) (?:any |a |the )?(?:host|domain|hostname|mx|mail exchange\w*|exchanger)`,
  String.raw`\bdomain(?: name)? not found\b|\b(?:name or service|nodename nor servname)\b.{0,20}\bnot known\b|\breserved by rfc ?2606\b|\bno (?:mx|mail exchanger)(?: or a)?(?: (?:records?|hosts?))? (?:found )?for\b|\bno (?:a|dns|mx) records?\b`,
  String.raw`\b(?:null ?mx|indicated no smtp service|infodomainnonexistent|infonorecords|nonexistentdomain|host address lookups failed permanently|mail receiving disabled|domain must exist)\b`,
  String.raw`\b(?:host|domain) (?:host )?(?:does not|doesn't) (?:accept|receive) (?:any )?(?:e-?)?mails?\b(?! from)|\bmx records? points? to (?:non-?existent|host|nothing|an? invalid)|\ball relevant mx records\b`,
  String.raw`\bname server: ?:? ?(?:host|domain|id)?\.?:? ?(?:host |domain )?(?:not found|no data known)|\bno route to domain\b|\bdomain (?:is )?not reachable\b|\bdomain mentioned in\b.{0,30}\bunknown\b`,
);
