/** Reports whether an id occurred before. A feed repeats some entries after a reconnect; the last `max` ids are remembered. */
export function createSeen(max = 2_000): (id: string) => boolean {
  const seen = new Set<string>();
  return (id) => {
    if (seen.has(id)) return true;
    seen.add(id);
    if (seen.size > max) for (const oldest of [...seen].slice(0, max / 2)) seen.delete(oldest);
    return false;
  };
}
