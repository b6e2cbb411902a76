/** Whether this came before, of as many as are worth remembering: feeds tell some again after they were lost. */
export function createSeen(most = 2_000): (id: string) => boolean {
  const seen = new Set<string>();
  return (id) => {
    if (seen.has(id)) return true;
    seen.add(id);
    if (seen.size > most) for (const oldest of [...seen].slice(0, most / 2)) seen.delete(oldest);
    return false;
  };
}
