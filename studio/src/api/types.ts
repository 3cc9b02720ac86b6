// The shapes of the API that the page reads: docs/reference/rest.md, inspect.md, live.md, admin.md.
export interface Memory {
  id: string; content: string; layer: string; type: string; category: string; key: string; tags: string[];
  metadata: Record<string, unknown> | null; importance: number; uses: number; last_used: string | null; origin: string; source: string;
  session: string; space: string; created: string; updated: string; expires: string | null; valid_from: string | null;
  valid_to: string | null; superseded_by: string;
}
export type Facets = Record<string, Record<string, number>>;
export interface MemoryPage { memories: Memory[]; total: number; next: string | null; facets?: Facets }
export interface Page<T> { items: T[]; total: number; next: string | null }

export interface Line {
  kind: 'memory' | 'message'; id: string; source: string; score: number; tokens: number; injected: boolean; why: string;
}
export interface Receipt {
  id: string; space: string; session: string; created: string; question: string; decision: string; reason: string; block: string; tokens: number;
  took_us: number; lines: Line[];
}
export interface ReceiptItem {
  id: string; space: string; session: string; created: string; question: string; decision: string; reason: string; tokens: number;
  given: number; considered: number; took_us: number; score?: number; why?: string;
}
export interface Message {
  id: string; session: string; space: string; position: number; role: string; speaker?: string; text: string; origin: string;
  recalls: string; tokens: number; created: string;
}
export interface MessageContext { message: Message; before: Message[]; after: Message[]; memories: Memory[]; uses: ReceiptItem[]; uses_total: number }
export interface HistoryItem { at: string; event: string; id: string; content?: string; before?: Partial<Memory>; by?: string }
export interface SessionItem {
  id: string; title: string; app_id: string; created_at: string; updated_at: string; message_count: number;
  score?: number; message_id?: string; text?: string; // of a search: what was found in it
}
export interface Space {
  space: string; own: boolean; sessions: number; messages: number; memories: number; facts: number; episodes: number; waiting: number;
  created: string; updated: string;
}
export interface Counts {
  memories_added: number; added_by_type: Record<string, number>; memories_forgotten: number; memories_expired: number; sessions: number;
  messages: number; tokens_injected: number; decisions: Record<string, number>; recalls: number; recall_p50_us: number;
  recall_p95_us: number; core_tokens_in: number; core_tokens_out: number;
}
export interface Stats {
  memories: { open: number; closed: number; by_layer: Record<string, number>; by_type: Record<string, number>; by_origin: Record<string, number> };
  sessions: number; messages: number; receipts: number; today: Counts; all: Counts;
}
export interface SeriesItem { at: string; total: number; parts?: Record<string, number>; mean_us?: number; p50_us?: number; p95_us?: number }
export interface Series { metric: string; by: string; from: string; to: string; items: SeriesItem[] }
export interface Found {
  kind: 'memory' | 'message'; id: string; text: string; score: number; tokens: number; role: string; session: string; source: string;
  created: string; why?: string; signals?: Record<string, number>;
}
export interface FoundPage { results: Found[]; took_us: number; vectors?: string; without?: string }
export interface Job {
  id: string; kind: string; dry_run: boolean; space: string | null; server: boolean; state: string; done: number; total: number;
  created: string; started: string | null; ended: string | null; took_ms: number | null; result: unknown; error: string | null;
}
export interface Setting {
  name: string; value: unknown; configured: unknown; default: unknown; source: string; acts: string; type: string; unit: string | null;
  min: number | null; max: number | null; choices: string[] | null; secret: boolean; group: string; help: string; cost: string | null;
}
export interface Finding { level: 'ok' | 'warn' | 'bad'; what: string; detail: string; advice: string }
export interface Held { id: string; kind: string; text: string; why: string; space?: string; created?: string; state?: string }
export interface Token {
  id: string; name: string; user: string; space: string; admin: boolean; acts_for: string | null; prefix: string; state: string;
  scopes: string; spaces: string; parent: string; last_address: string;
  created: string; expires: string | null; revoked: string | null; last_used: string | null; token?: string;
}
export type Role = 'member' | 'operator' | 'owner';
export interface User {
  id: string; role: Role; is_registered: boolean; email: string | null; first_name: string | null; last_name: string | null; spaces: number;
  sessions: number; messages: number; memories: number; tokens: number; created: string; last_active: string | null;
}
export interface Me { user: string; role: Role; scopes: string; is_admin: boolean; is_local: boolean; needs_token: boolean; signed_in_until: string | null; space: string; version: string }
