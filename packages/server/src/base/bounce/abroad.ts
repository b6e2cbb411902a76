import { any } from './phrase.ts';

/** The same in other languages: a noun for whom or what, then what is the matter. Scripts without spaces have no `\b`. */

export const UNKNOWN_ABROAD = any(
  // German, Dutch
  String.raw`(?:benutzer|empfänger|empfaenger|adresse|postfach|konto|nutzer)\b.{0,60}(?:unbekannt|existiert nicht|nicht (?:gefunden|bekannt|vorhanden)|ungültig)|unbekannte[rn]? (?:benutzer|empfänger|adresse)|kein(?:e[nrs]?)? (?:solche[nrs]? )?(?:benutzer|empfänger|postfach|konto)`,
  String.raw`(?:gebruiker|adres|ontvanger|postbus)\b.{0,40}(?:onbekend|bestaat niet|niet gevonden)|onbekende? (?:gebruiker|ontvanger|adres)|geen (?:dergelijke |zodanige )?(?:gebruiker|ontvanger|postbus)`,
  // French, Spanish, Portuguese, Italian
  String.raw`(?:utilisateur|destinataire|adresse|bo[iî]te|compte)\b.{0,60}(?:inconnue?|n.?existe p(?:as|lus)|n.?est p(?:as|lus) (?:valide|utilisée?|en service)|introuvable|invalide|erronée?|inexistante?|supprimée?)|aucune? (?:utilisateur|destinataire|compte|bo[iî]te|adresse)|adresse (?:e-?mail |mail |[eé]lectronique )?(?:n.?est plus active|inactive)`,
  String.raw`(?:usuario|usuário|utente|utilizador|destinat[aá]ri[oa]|direcci[oó]n|endereço|indirizzo|cuenta|conta|casella|buz[oó]n|correo|caixa)\b.{0,60}(?:desconocid[oa]|desconhecid[oa]|sconosciut[oa]|inexistente|no existe|n[aã]o existe|non esist\w*|non (?:è )?(?:valid|trovat)\w*|no (?:se )?(?:ha )?(?:sido )?encontrad[oa]|n[ãa]o (?:foi )?encontrad[oa]|inv[aá]lid[oa])`,
  String.raw`\b(?:no existe|non esiste|n[aã]o existe|nessun|ning[uú]n|nenhum) (?:(?:el|la|ese|este|esa|dich[oa]|tal|un|una?|alcun|nessun|o|uma?|esse) )?(?:usuario|persona|cuenta|buz[oó]n|destinat[aá]ri[oa]|direcci[oó]n|utente|indirizzo|casella|usuário|utilizador|endereço|conta)`,
  // Polish, Russian, Turkish
  String.raw`(?:użytkownik|adres|skrzynka|konto).{0,40}(?:nieznan|nie istnieje|nie znaleziono)|(?:kullanıcı|alıcı|adres).{0,30}(?:bulunamadı|bilinmiyor|mevcut değil)`,
  String.raw`(?:пользовател|получател|адрес|ящик|аккаунт|уч[её]тн).{0,40}(?:не (?:найден|существует|зарегистрирован|известен)|неизвест|недействител)|(?:нет|неизвестн\S+) (?:так\S+ )?(?:пользовател|получател|адрес)`,
  // Chinese, Japanese, Korean, Hebrew
  String.raw`(?:收件人|用户|用戶|邮箱|郵箱|地址|帐号|账号|账户|收信人|使用者).{0,20}(?:不存在|未找到|找不到|无效|無效|不正确)|(?:不存在|无效|無效)的?(?:收件人|用户|用戶|邮箱|地址)|查无此`,
  String.raw`(?:ユーザー?|アドレス|宛先|受信者|メールボックス|アカウント).{0,20}(?:存在しま?せん|存在しない|見つか(?:りません|らない)|(?:い|おり|あり|ござい)ません|不明|無効|誤り|正しくありません)|(?:宛先|あて先)不明`,
  String.raw`(?:사용자|수신자|주소|계정|메일함).{0,20}(?:존재하지 않|찾을 수 없|알 수 없)|(?:הכתובת|הנמען|המשתמש).{0,30}(?:לא (?:קיים|קיימת|נמצא|נמצאה|ידוע)|אינו קיים|אינה קיימת)`,
);

export const FULL_ABROAD = any(
  String.raw`(?:postfach|mailbox|speicher\w*|kontingent|quota|postbus)\b.{0,60}(?:\bvoll?\b|überschritten|überfüllt|erreicht)|(?:bo[iî]te|quota|messagerie|espace)\b.{0,60}(?:plein|satur[ée]|d[ée]pass[ée])|d[ée]pass[ée] .{0,20}(?:quota|limite)`,
  String.raw`(?:buz[oó]n|casilla|bandeja|cuenta|cuota|casella|caixa|conta|cota)\b.{0,60}(?:llen[oa]|superad[oa]|superado|excedid[oa]|pien[oa]\b|chei[oa]|lotad[oa]|esgotad[oa])`,
  String.raw`(?:ящик|квот|места?\b|хранилищ).{0,40}(?:переполнен|превышен|полон|заполнен|закончил)|skrzynka.{0,30}(?:pełna|przepełniona)`,
  String.raw`(?:邮箱|郵箱|信箱|容量|空间|空間).{0,12}(?:满|滿|不足|超出|超过|超過)|(?:メールボックス|容量|受信箱).{0,20}(?:一杯|いっぱい|満杯|超え|超過|オーバー|不足)|(?:메일함|용량|사서함).{0,12}(?:가득|초과|부족)|תיבת.{0,20}מלאה`,
);

export const SUSPENDED_ABROAD = any(
  String.raw`(?:konto|postfach|benutzer)\b.{0,40}(?:gesperrt|deaktiviert|inaktiv)|(?:compte|bo[iî]te|destinataire)\b.{0,40}(?:archiv[ée]|suspendu|d[ée]sactiv[ée]|bloqu[ée])`,
  String.raw`(?:cuenta|conta|usuario|usuário|utente|casella)\b.{0,40}(?:suspendid[oa]|suspens[oa]|des[ah]\w*tivad[oa]|desactivad[oa]|bloquead[oa]|bloccat[oa]|sospes[oa]|disattivat[oa]|inhabilitad[oa])`,
  String.raw`(?:аккаунт|пользовател|ящик|уч[её]тн).{0,40}(?:заблокирован|отключ[её]н|неактив|приостановлен)|(?:帐号|账号|账户|用户|邮箱).{0,12}(?:停用|禁用|冻结|锁定|过期|暂停)|(?:アカウント|宛先|ユーザー?).{0,20}(?:停止|休止|ロック)`,
);

/** Refused by whom it is for. */
export const FILTERED_ABROAD = any(
  String.raw`受信者の設定|受信(?:を|が)?拒否|着信拒否|迷惑メール設定|收件人(?:拒收|拒绝)|被收件人|refusé par (?:le|son) destinataire|vom empfänger (?:abgelehnt|verweigert)`,
);

export const UNWANTED_ABROAD = any(
  String.raw`垃圾邮件|垃圾郵件|黑名单|黑名單|病毒|拒收|迷惑メール|スパム|ウイルス|спам|вирус|ч[её]рн\S{1,3} спис|отклонен|indésirable|indesirable|non sollicité|correo no deseado|lista negra|liste noire|service refus[eé]|[eé]metteur invalide`,
);

/** A group that does not exist, or takes no letters of this sender: Google says both in one sentence. */
export const GROUP_ABROAD = any(
  String.raw`(?:\bgrupo\b|\bgroupe\b|\bgruppe\b|\bgruppo\b|\bgroep\b|\bgrup\w*\b|\bgrupp\w*|групп|グループ|群组|群組|הקבוצה|קבוצה|그룹|مجموعة|المجموعة).{0,300}(?:permis|permess|berecht|autoris|erlaub|toestemming|uprawn|behörig|tillstånd|izin|oprávn|разреш|прав|権限|投稿|权限|權限|אישור|לפרסם|권한|إذن)`,
);
