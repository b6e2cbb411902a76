/** Hosts of public mailboxes, under one name or under one name for each country. */
const HOSTS = new Set(
  (
    'gmail.com googlemail.com msn.com passport.com ymail.com rocketmail.com aol.com aim.com verizon.net icloud.com me.com mac.com ' +
    'proton.me protonmail.com protonmail.ch pm.me tutanota.com tutanota.de tuta.com tuta.io fastmail.com fastmail.fm hey.com ' +
    'zoho.com zohomail.com zohomail.eu mail.com email.com usa.com gmx.com gmx.net gmx.de gmx.at gmx.ch web.de freenet.de t-online.de ' +
    'posteo.de mailbox.org arcor.de vodafone.de orange.fr wanadoo.fr free.fr laposte.net sfr.fr libero.it virgilio.it tiscali.it ' +
    'alice.it tim.it bluewin.ch ziggo.nl kpnmail.nl xs4all.nl telenet.be skynet.be seznam.cz email.cz centrum.cz wp.pl o2.pl ' +
    'onet.pl interia.pl mail.ru bk.ru inbox.ru list.ru yandex.ru yandex.com ya.ru rambler.ru ukr.net i.ua qq.com foxmail.com ' +
    '163.com 126.com yeah.net sina.com sina.cn sohu.com aliyun.com naver.com daum.net hanmail.net nate.com docomo.ne.jp ezweb.ne.jp ' +
    'softbank.ne.jp rediffmail.com uol.com.br bol.com.br terra.com.br comcast.net att.net sbcglobal.net bellsouth.net cox.net ' +
    'charter.net btinternet.com sky.com talktalk.net virginmedia.com bigpond.com optusnet.com.au shaw.ca rogers.com sympatico.ca hushmail.com'
  ).split(' '),
);
const OF_MANY_COUNTRIES = /^(?:outlook|hotmail|live|yahoo)\./;

/**
 * Returns whether a shared domain means nothing, because the provider gives mailboxes to anyone. `domain`: the registered domain, without
 * subdomains.
 */
export function isPublicMailboxes(domain: string): boolean {
  return HOSTS.has(domain) || OF_MANY_COUNTRIES.test(domain);
}
