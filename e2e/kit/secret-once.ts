import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** Copies the secret from the dialog that shows it once, and closes the dialog after confirming that it is stored. */
export async function copySecret(page: Page, title: string): Promise<string> {
  const dialog = page.getByRole('dialog', { name: title });
  const secret = await dialog.getByLabel('secret', { exact: true }).innerText();
  await dialog.getByRole('button', { name: 'Copy secret' }).click();
  await dialog.getByText('Copied').first().waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
  expect(await dialog.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true);
  await dialog.getByLabel('I stored the secret where my server reads it').check();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await page.content()).not.toContain(secret);
  return secret;
}
