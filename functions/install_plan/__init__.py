"""Steps that reconcile InstallPlans."""
