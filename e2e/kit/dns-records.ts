import type { Locator, Page } from 'playwright-core';
import type { DnsServer } from '../../packages/server/testing/servers/dns-server.ts';

export type ShownRecord = { article: Locator; type: 'MX' | 'TXT'; name: string; value: string };

/** Returns the DNS records that the page of a domain shows. */
export async function dnsRecordsOn(page: Page): Promise<ShownRecord[]> {
  const articles = page.getByRole('article');
  await articles.first().waitFor();
  const records: ShownRecord[] = [];
  for (const article of await articles.all()) {
    const name = await article.locator('strong').innerText();
    const value = await article.getByLabel(`value of ${name}`, { exact: true }).innerText();
    const isMx = (await article.getByText(`MX ${name}`).count()) > 0;
    records.push({ article, type: isMx ? 'MX' : 'TXT', name, value });
  }
  return records;
}

export function publish(dns: DnsServer, records: ShownRecord[]): void {
  for (const { type, name, value } of records) dns.set(type, name, [value]);
}
