/** Returns true if the server delivers the page at a URL. */
export async function isAnswering(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { cache: 'no-store' })).ok;
  } catch {
    return false;
  }
}
