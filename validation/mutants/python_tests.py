"""The tests that run on the mutants of each Python package."""

_RUNS = ("grid", "store", "sweep", "api")
_OF_PACKAGES = {
    "results": (
        "results_values", "scenario_values", "times", "compared", "stalls", "watch", "verdict",
        "pooled", "collapse", "statistics", "report_objects", "precision", *_RUNS, "output", "late",
        "damage", "archive",
    ),
    "scenario": (
        "scenario_values", "schema_texts", "facts", "cli_values", "overrides", *_RUNS, "mistakes",
        "output", "model_command", "explain",
    ),
    "sweep": (
        "sweep_values", "backend", "shard", *_RUNS, "late", "shards", "templates", "cluster",
    ),
    "advise": (
        "advise_search", "scenario_values", "advise_values", "advise_fan_in", "advise_readers",
        "advise_routes", "advise_switches", "advise_sonic", "advise_dumps", "advise_peers",
        "advise_fixes", "advise_goal", "advise_limit", "advise_apps", "advise_each",
        "advise_rollback", "advised", "advise", "advise_store", "advise_pairs",
    ),
    "cli": (
        "cli_values", "advised_page", "parse", "terminal", "orders", "mistakes", "output",
        "parts_of_output", "overrides", "model_command", "diagnose_text", "any_results", "fetch",
        "fetch_servers", "explain",
    ),
    "client": (
        "learner_steps", "client_values", "learner", "admission", "fetch_kept", "client_governor",
        "fetch", "client_contract", "fetch_servers", "client_star",
    ),
    "diagnose": (
        "diagnose_tables", "diagnose_sentences", "diagnose_pictures", "diagnose_scenario",
        "diagnose_text", "diagnose", "diagnose_reading",
    ),
    "live": ("live_values", "live_traffic", "live_refusals", "live_captures", "live"),
    "models": (
        "models_stack", "models", "models_any", "models_collapse", "models_estimation",
        "models_fluid", "models_kulkarni", "models_padhye", "models_queues",
        "models_serialisation", "bounds",
    ),
    "plots": (
        "plot_style", "plot_values", "plot_shares", "plot_details", "pictures", "plot_choices",
        "plots", "gallery",
    ),
}  # fmt: skip
TESTS = {package: ("keywords", *tests) for package, tests in _OF_PACKAGES.items()}
"""The test files for each package, the quick files first."""
